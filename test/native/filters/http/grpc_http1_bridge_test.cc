// Unary calls of clients that know no trailers.
#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

using std::string_literals::operator""s;

plan::Update withBridge(uint16_t port) {
  plan::Update plan = httpPlan({port});
  plan.clusters[0].enable_trailers = true;
  managerOf(plan).http_filters.emplace_back().grpc_http1_bridge.emplace().upgrade_protobuf = true;
  return plan;
}

Origin::Script answeringStatus(const std::string& status) {
  return [status](Socket& socket, int) {
    EXPECT(has(socket.readMessage(), "\0\0\0\0\5hello"s));
    socket.write(
        "HTTP/1.1 200 OK\r\ncontent-type: application/grpc\r\ntransfer-encoding: chunked\r\n\r\n"
        "a\r\n\0\0\0\0\5world\r\n0\r\ngrpc-status: "s +
        status + "\r\ngrpc-message: why\r\n\r\n");
  };
}

std::string bridgedCall(Proxy& proxy, const std::string& type, const std::string& body) {
  Socket client = proxy.connect();
  client.write("POST /a.B/C HTTP/1.1\r\nhost: a\r\ncontent-type: " + type +
               "\r\ncontent-length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  return client.readMessage();
}

}  // namespace

TEST("What trailers say of a call is in the head of its answer, and how long that is") {
  Origin origin(answeringStatus("0"));
  Proxy proxy(withBridge(origin.port()));
  const std::string answer = bridgedCall(proxy, "application/grpc", "\0\0\0\0\5hello"s);
  EXPECT(answer.starts_with("HTTP/1.1 200 "));
  EXPECT(has(answer, "grpc-status: 0\r\n"));
  EXPECT(has(answer, "grpc-message: why\r\n"));
  EXPECT(has(answer, "content-length: 10\r\n"));
  EXPECT(answer.ends_with("\0\0\0\0\5world"s));
}

TEST("A call that failed is an answer of 503") {
  Origin origin(answeringStatus("3"));
  Proxy proxy(withBridge(origin.port()));
  EXPECT(bridgedCall(proxy, "application/grpc", "\0\0\0\0\5hello"s).starts_with("HTTP/1.1 503 "));
}

TEST("A bare message is put into a frame for its host, and taken out of one for its client") {
  Origin origin(answeringStatus("0"));
  Proxy proxy(withBridge(origin.port()));
  const std::string answer = bridgedCall(proxy, "application/x-protobuf", "hello");
  EXPECT(has(answer, "content-length: 5\r\n"));
  EXPECT(answer.ends_with("\r\n\r\nworld"));
}

}  // namespace fairlead::test
