// Calls of browsers, as gRPC for a host that speaks HTTP/1 with trailers.
#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

using std::string_literals::operator""s;

plan::Update withGrpcWeb(uint16_t port) {
  plan::Update plan = httpPlan({port});
  plan.clusters[0].enable_trailers = true;
  managerOf(plan).http_filters.emplace_back().grpc_web.emplace();
  return plan;
}

// One message, and what the trailers say.
void answerCall(Socket& socket, int) {
  for (std::string message; !(message = socket.readMessage()).empty();) {
    EXPECT(has(message, "content-type: application/grpc\r\n"));
    EXPECT(has(message, "te: trailers\r\n"));
    EXPECT(has(message, "\0\0\0\0\5hello"s));
    socket.write(
        "HTTP/1.1 200 OK\r\ncontent-type: application/grpc\r\ntransfer-encoding: chunked\r\n\r\n"
        "a\r\n\0\0\0\0\5world\r\n0\r\ngrpc-status: 0\r\n\r\n"s);
  }
}

std::string webCall(Proxy& proxy, const std::string& type, const std::string& body) {
  Socket client = proxy.connect();
  client.write("POST /a.Service/Method HTTP/1.1\r\nhost: a\r\ncontent-type: " + type +
               "\r\naccept: " + type + "\r\ncontent-length: " + std::to_string(body.size()) +
               "\r\n\r\n" + body);
  return client.readMessage();
}

}  // namespace

TEST("A call of gRPC-Web is gRPC for its host, whose trailers end the answer's body") {
  Origin origin(answerCall);
  Proxy proxy(withGrpcWeb(origin.port()));
  const std::string answer = webCall(proxy, "application/grpc-web", "\0\0\0\0\5hello"s);
  EXPECT(has(answer, "content-type: application/grpc-web+proto\r\n"));
  const std::string body = bodyOf(answer);
  EXPECT(has(body, "\0\0\0\0\5world"s));
  EXPECT(has(body, "\x80\0\0\0\x0fgrpc-status:0\r\n"s));
  EXPECT(proxy.waitForRefreshed("cluster.origin.grpc-web.a.Service.Method.success", 1));
  EXPECT(proxy.waitForRefreshed("cluster.origin.grpc-web.a.Service.Method.0", 1));
}

TEST("In base64 each frame is encoded by itself") {
  Origin origin(answerCall);
  Proxy proxy(withGrpcWeb(origin.port()));
  const std::string answer = webCall(proxy, "application/grpc-web-text", "AAAAAAVoZWxsbw==");
  EXPECT(has(answer, "content-type: application/grpc-web-text+proto\r\n"));
  const std::string body = bodyOf(answer);
  EXPECT(has(body, "AAAAAAV3b3JsZA=="));
  EXPECT(has(body, "gAAAAA9ncnBjLXN0YXR1czowDQo="));
}

TEST("What is no base64 is refused, and its host hears no message") {
  Origin origin([](Socket& socket, int) { EXPECT(!has(socket.readAll(), "hello")); });
  Proxy proxy(withGrpcWeb(origin.port()));
  for (const char* body : {"AAA", "AAAA_AVoZWxsbw==", "====", "AA==AAAA"}) {
    const std::string answer = webCall(proxy, "application/grpc-web-text", body);
    EXPECT(answer.starts_with("HTTP/1.1 400 "));
    EXPECT(has(answer, "grpc-status: 13\r\n"));
  }
}

TEST("An answer that is no gRPC becomes the call's message") {
  Origin origin([](Socket& socket, int) {
    socket.readMessage();
    socket.write(
        "HTTP/1.1 404 Not Found\r\ncontent-type: text/plain\r\n"
        "content-length: 5\r\n\r\n100%\n");
  });
  Proxy proxy(withGrpcWeb(origin.port()));
  const std::string answer = webCall(proxy, "application/grpc-web", "\0\0\0\0\5hello"s);
  EXPECT(answer.starts_with("HTTP/1.1 404 "));
  EXPECT(has(answer, "grpc-status: 12\r\n"));
  EXPECT(has(answer, "grpc-message: 100%25%0A\r\n"));
  EXPECT(has(answer, "content-length: 0\r\n"));
}

}  // namespace fairlead::test
