// Requests in JSON for hosts that speak gRPC.
#include "test/native/support/http_filters.h"
#include "test/native/support/transcoded.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

using std::string_literals::operator""s;

plan::HttpBinding binding(std::string method, std::vector<std::string> segments, std::string body,
                          uint32_t of) {
  plan::HttpBinding binding;
  binding.http_method = std::move(method);
  binding.segments = std::move(segments);
  binding.body = std::move(body);
  binding.method = of;
  return binding;
}

plan::TranscodedMethod methodOf(std::string path, uint32_t input, uint32_t output) {
  plan::TranscodedMethod method;
  method.path = std::move(path);
  method.input = input;
  method.output = output;
  return method;
}

// POST /items is /Shop/Put, GET /items/{id} is /Shop/Get, GET /items is a stream, POST /files takes
// any bytes.
plan::GrpcJsonTranscoder shop() {
  plan::GrpcJsonTranscoder plan = itemService();
  plan.methods = {methodOf("/Shop/Put", 0, 0), methodOf("/Shop/Get", 0, 0),
                  methodOf("/Shop/List", 0, 0), methodOf("/Shop/Send", 1, 0)};
  plan.methods[2].server_streaming = true;
  plan.methods[3].takes_http_body = true;
  plan.methods[3].request_body_path = {"file"};
  plan.bindings = {binding("POST", {"items"}, "*", 0), binding("GET", {"items", "*"}, "", 1),
                   binding("GET", {"items"}, "", 2), binding("POST", {"files"}, "file", 3)};
  plan.bindings[1].variables.push_back({{"id"}, 1, 2});
  return plan;
}

plan::Update withTranscoder(uint16_t port, plan::GrpcJsonTranscoder transcoder = shop()) {
  plan::Update plan = httpPlan({port});
  plan.clusters[0].enable_trailers = true;
  managerOf(plan).http_filters.emplace_back().grpc_json_transcoder = std::move(transcoder);
  return plan;
}

std::string grpcAnswer(const std::string& frames, const std::string& trailers) {
  char size[8];
  std::snprintf(size, sizeof(size), "%zx\r\n", frames.size());
  const std::string chunk = frames.empty() ? "" : size + frames + "\r\n";
  return "HTTP/1.1 200 OK\r\ncontent-type: application/grpc\r\ntransfer-encoding: chunked\r\n\r\n" +
         chunk + "0\r\n" + trailers + "\r\n";
}

// What the host has seen goes to `seen`.
Origin::Script answeringWith(std::string* seen, const std::string& answer) {
  return [seen, answer](Socket& socket, int) {
    *seen = socket.readMessage();
    socket.write(answer);
  };
}

std::string postJson(Proxy& proxy, const std::string& path, const std::string& body,
                     const std::string& headers = {}) {
  Socket client = proxy.connect();
  client.write("POST " + path + " HTTP/1.1\r\nhost: a\r\n" + headers +
               "content-length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  return client.readMessage();
}

const std::string kItem = "\0\0\0\0\3\x0a\x01\x61"s;

// What the chunks of an answer say together, however it was cut.
std::string chunksOf(const std::string& answer) {
  std::string body;
  size_t at = answer.find("\r\n\r\n") + 4;
  while (true) {
    const size_t size = std::stoul(answer.substr(at), nullptr, 16);
    if (size == 0) return body;
    at = answer.find("\r\n", at) + 2;
    body += answer.substr(at, size);
    at += size + 2;
  }
}

}  // namespace

TEST("A request in JSON is a call, and what is answered is JSON") {
  std::string seen;
  Origin origin(answeringWith(&seen, grpcAnswer(kItem, "grpc-status: 0\r\n")));
  Proxy proxy(withTranscoder(origin.port()));
  const std::string answer = postJson(proxy, "/items", R"({"id":"b"})");
  EXPECT(seen.starts_with("POST /Shop/Put HTTP/1.1\r\n"));
  EXPECT(has(seen, "content-type: application/grpc\r\n"));
  EXPECT(has(seen, "te: trailers\r\n"));
  EXPECT(has(seen, "x-envoy-original-path: /items\r\n"));
  EXPECT(has(seen, "x-envoy-original-method: POST\r\n"));
  EXPECT(has(seen, "\0\0\0\0\3\x0a\x01\x62"s));
  EXPECT(answer.starts_with("HTTP/1.1 200 "));
  EXPECT(has(answer, "content-type: application/json\r\n"));
  EXPECT(has(answer, "content-length: 10\r\n"));
  EXPECT(has(answer, "grpc-status: 0\r\n"));
  EXPECT(answer.ends_with(R"({"id":"a"})"));
}

TEST("A request without a body has the message that its path makes") {
  std::string seen;
  Origin origin(answeringWith(&seen, grpcAnswer(kItem, "grpc-status: 0\r\n")));
  Proxy proxy(withTranscoder(origin.port()));
  EXPECT(get(proxy, "/items/x%20y").ends_with(R"({"id":"a"})"));
  EXPECT(has(seen, "\0\0\0\0\5\x0a\x03x y"s));
}

TEST("What routes add to a request goes with one without a body, on a connection that waits, too") {
  std::string seen;
  const std::string answer = grpcAnswer(kItem, "grpc-status: 0\r\n");
  Origin origin([&](Socket& socket, int) {
    for (int i = 0; i < 2; ++i) {
      seen = socket.readMessage();
      socket.write(answer);
    }
  });
  plan::Update plan = withTranscoder(origin.port());
  plan.route_tables[0].virtual_hosts[0].include_request_attempt_count = true;
  Proxy proxy(std::move(plan));
  Socket client = proxy.connect();
  for (int i = 0; i < 2; ++i) {
    client.write("GET /items/x HTTP/1.1\r\nhost: a\r\n\r\n");
    EXPECT(client.readMessage().ends_with(R"({"id":"a"})"));
    EXPECT(has(seen, "x-envoy-attempt-count: 1\r\n"));
  }
}

TEST("A stream of messages is a list, as they come") {
  std::string seen;
  Origin origin(answeringWith(&seen, grpcAnswer(kItem + kItem, "grpc-status: 0\r\n")));
  Proxy proxy(withTranscoder(origin.port()));
  EXPECT_EQ(chunksOf(get(proxy, "/items")), R"([{"id":"a"},{"id":"a"}])");
}

TEST("A call that failed has the status in HTTP that goes with it") {
  std::string seen;
  Origin origin(answeringWith(&seen, grpcAnswer("", "grpc-status: 5\r\ngrpc-message: why\r\n")));
  Proxy proxy(withTranscoder(origin.port()));
  const std::string answer = get(proxy, "/items/x");
  EXPECT(answer.starts_with("HTTP/1.1 404 "));
  EXPECT(has(answer, "grpc-message: why\r\n"));
  EXPECT(has(answer, "content-length: 0\r\n"));
}

TEST("What is wrong with a body is the answer, and the host gets no message") {
  std::string seen;
  Origin origin(answeringWith(&seen, grpcAnswer(kItem, "grpc-status: 0\r\n")));
  Proxy proxy(withTranscoder(origin.port()));
  const std::string answer = postJson(proxy, "/items", R"({"price":"x"})");
  EXPECT(answer.starts_with("HTTP/1.1 400 "));
  EXPECT(answer.ends_with("\r\n\r\nprice: invalid value \"x\" for type TYPE_INT64"));
  // As the real server, which has not looked at the end of that body, but of one that lacks its
  // own.
  EXPECT_EQ(proxy.stat("http.in.downstream_rq_rx_reset"), 1u);
  EXPECT(postJson(proxy, "/items", R"({"price":1)").starts_with("HTTP/1.1 400 "));
  EXPECT_EQ(proxy.stat("http.in.downstream_rq_rx_reset"), 1u);
}

TEST("Bytes of any type are a message with their type") {
  std::string seen;
  Origin origin(answeringWith(&seen, grpcAnswer(kItem, "grpc-status: 0\r\n")));
  Proxy proxy(withTranscoder(origin.port()));
  postJson(proxy, "/files", "bytes", "content-type: image/png\r\n");
  EXPECT(has(seen, "\0\0\0\0\x16\x12\0\x12\x12\x0a\x09image/png\x12\5bytes"s));
}

TEST("What is no call passes, or is refused where the configuration says so") {
  std::string seen;
  Origin origin(answeringWith(&seen, "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nhi"));
  Proxy proxy(withTranscoder(origin.port()));
  EXPECT(get(proxy, "/other").ends_with("hi"));
  EXPECT(seen.starts_with("GET /other "));
  plan::GrpcJsonTranscoder strict = shop();
  strict.rejects_unknown_methods = true;
  Proxy strict_proxy(withTranscoder(origin.port(), strict));
  const std::string answer = get(strict_proxy, "/other");
  EXPECT(answer.starts_with("HTTP/1.1 404 "));
  EXPECT(answer.ends_with("Could not resolve /other to a method."));
}

}  // namespace fairlead::test
