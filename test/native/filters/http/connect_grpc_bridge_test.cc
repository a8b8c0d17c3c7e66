// Calls of the Connect protocol for hosts that speak gRPC.
#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

using std::string_literals::operator""s;

plan::Update withConnect(uint16_t port) {
  plan::Update plan = httpPlan({port});
  plan.clusters[0].enable_trailers = true;
  managerOf(plan).http_filters.emplace_back().connect_grpc_bridge.emplace();
  return plan;
}

Origin::Script answering(std::string* seen, const std::string& trailers) {
  return [seen, trailers](Socket& socket, int) {
    *seen = socket.readMessage();
    socket.write(
        "HTTP/1.1 200 OK\r\ncontent-type: application/grpc+json\r\ntransfer-encoding: "
        "chunked\r\n\r\n"
        "a\r\n\0\0\0\0\5world\r\n0\r\n"s +
        trailers + "\r\n");
  };
}

std::string call(Proxy& proxy, const std::string& headers, const std::string& body) {
  Socket client = proxy.connect();
  client.write("POST /a.B/C HTTP/1.1\r\nhost: a\r\n" + headers +
               "content-length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  return client.readMessage();
}

constexpr const char* kUnary = "connect-protocol-version: 1\r\ncontent-type: application/json\r\n";

}  // namespace

TEST("A message is put into a frame, and what is answered taken out of one") {
  std::string seen;
  Origin origin(answering(&seen, "grpc-status: 0\r\nx-tail: a\r\n"));
  Proxy proxy(withConnect(origin.port()));
  const std::string answer = call(proxy, kUnary + "connect-timeout-ms: 1500\r\n"s, "hello");
  EXPECT(has(seen, "content-type: application/grpc+json\r\n"));
  EXPECT(has(seen, "grpc-timeout: 1500m\r\n"));
  EXPECT(!has(seen, "connect-"));
  EXPECT(has(seen, "\0\0\0\0\5hello"s));
  EXPECT(answer.starts_with("HTTP/1.1 200 "));
  EXPECT(has(answer, "content-type: application/json\r\n"));
  EXPECT(has(answer, "trailer-x-tail: a\r\n"));
  EXPECT(has(answer, "world"));
  EXPECT(!has(answer, "\5world"));
}

TEST("A call that failed is an error in JSON with a status of HTTP") {
  std::string seen;
  Origin origin(answering(&seen,
                          "grpc-status: 9\r\ngrpc-message: no\r\n"
                          "grpc-status-details-bin: GggKAXQSA2FiYw\r\n"));
  Proxy proxy(withConnect(origin.port()));
  const std::string answer = call(proxy, kUnary, "hello");
  EXPECT(answer.starts_with("HTTP/1.1 412 "));
  EXPECT(has(answer, R"({"code":"failed_precondition","message":"no",)"
                     R"("details":[{"type":"t","value":"YWJj"}]})"));
}

TEST("What GET asks for is in its query") {
  std::string seen;
  Origin origin(answering(&seen, "grpc-status: 0\r\n"));
  Proxy proxy(withConnect(origin.port()));
  get(proxy, "/a.B/C?connect=v1&encoding=proto&base64=1&message=aGk");
  EXPECT(seen.starts_with("POST /a.B/C HTTP/1.1\r\n"));
  EXPECT(has(seen, "content-type: application/grpc+proto\r\n"));
  EXPECT(has(seen, "\0\0\0\0\2hi"s));
}

TEST("A stream ends with a frame that says how it went") {
  std::string seen;
  Origin origin(answering(&seen, "grpc-status: 5\r\nx-tail: a\r\nx-tail: b\r\n"));
  Proxy proxy(withConnect(origin.port()));
  const std::string answer =
      call(proxy, "content-type: application/connect+json\r\nconnect-accept-encoding: gzip\r\n",
           "\0\0\0\0\5hello"s);
  EXPECT(has(seen, "grpc-accept-encoding: gzip\r\n"));
  EXPECT(has(answer, "content-type: application/connect+json\r\n"));
  const std::string body = bodyOf(answer);
  EXPECT(has(body, "\0\0\0\0\5world"s));
  EXPECT(has(body, R"({"error":{"code":"not_found"},"metadata":{"x-tail":["a","b"]}})"));
}

}  // namespace fairlead::test
