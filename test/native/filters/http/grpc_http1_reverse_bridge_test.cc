// Calls of gRPC for hosts that know nothing of it.
#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

using std::string_literals::operator""s;

plan::Update withReverseBridge(uint16_t port) {
  plan::Update plan = httpPlan({port});
  managerOf(plan).enable_trailers = true;
  plan::GrpcReverseBridge& bridge =
      managerOf(plan).http_filters.emplace_back().grpc_http1_reverse_bridge.emplace();
  bridge.content_type = "application/x-protobuf";
  bridge.withholds_frames = true;
  return plan;
}

Origin::Script answeringBarely(const std::string& head) {
  return [head](Socket& socket, int) {
    const std::string request = socket.readMessage();
    EXPECT(has(request, "content-type: application/x-protobuf\r\n"));
    EXPECT(has(request, "content-length: 5\r\n"));
    EXPECT(request.ends_with("\r\n\r\nhello"));
    socket.write(head + "content-length: 5\r\n\r\nworld");
  };
}

std::string reverseCall(Proxy& proxy) {
  Socket client = proxy.connect();
  client.write(
      "POST /a.B/C HTTP/1.1\r\nhost: a\r\ncontent-type: application/grpc+proto\r\n"
      "content-length: 10\r\n\r\n\0\0\0\0\5hello"s);
  return client.readMessage();
}

}  // namespace

TEST("A host sees the message alone, and its client gets one in a frame") {
  Origin origin(answeringBarely("HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\n"));
  Proxy proxy(withReverseBridge(origin.port()));
  const std::string answer = reverseCall(proxy);
  EXPECT(has(answer, "content-type: application/grpc+proto\r\n"));
  EXPECT(has(answer, "content-length: 10\r\n"));
  EXPECT(has(answer, "\0\0\0\0\5world"s));
}

TEST("An answer that is longer than what a connection may hold gets its frame as well") {
  const std::string body(100'000, 'b');
  Origin origin([&body](Socket& socket, int) {
    socket.readMessage();
    socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/x-protobuf\r\ncontent-length: " +
                 std::to_string(body.size()) + "\r\n\r\n" + body);
  });
  plan::Update plan = withReverseBridge(origin.port());
  plan.listeners[0].per_connection_buffer_limit_bytes = 1000;
  Proxy proxy(plan);
  const std::string answer = reverseCall(proxy);
  EXPECT(has(answer, "content-length: 100005\r\n"));
  EXPECT(answer.ends_with("\0\1\x86\xa0"s + body));
}

TEST("An answer of another content type is none") {
  Origin origin(answeringBarely("HTTP/1.1 404 Not Found\r\ncontent-type: text/html\r\n"));
  Proxy proxy(withReverseBridge(origin.port()));
  const std::string answer = reverseCall(proxy);
  EXPECT(answer.starts_with("HTTP/1.1 200 "));
  EXPECT(has(answer, "grpc-status: 2\r\n"));
  EXPECT(has(answer, "unsupported content-type text/html, status code 404"));
}

}  // namespace fairlead::test
