// What is counted of calls.
#include "test/native/support/exchange.h"
#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

using std::string_literals::operator""s;

plan::Update withGrpcStats(uint16_t port, const plan::GrpcStatsFilter& filter) {
  plan::Update plan = httpPlan({port});
  plan.clusters[0].enable_trailers = true;
  managerOf(plan).http_filters.emplace_back().grpc_stats = filter;
  return plan;
}

// Two messages.
void answerTwice(Socket& socket, int) {
  for (std::string message; !(message = socket.readMessage()).empty();) {
    socket.write(
        "HTTP/1.1 200 OK\r\ncontent-type: application/grpc\r\ntransfer-encoding: chunked\r\n\r\n"
        "c\r\n\0\0\0\0\1a\0\0\0\0\1b\r\n0\r\ngrpc-status: 5\r\n\r\n"s);
  }
}

// A message in three pieces.
void countedCall(Proxy& proxy, const std::string& path) {
  Socket client = proxy.connect();
  client.write("POST " + path +
               " HTTP/1.1\r\nhost: a\r\ncontent-type: application/grpc\r\n"
               "transfer-encoding: chunked\r\n\r\n");
  client.write("2\r\n\0\0\r\n"s);
  sleepMs(5);
  client.write("4\r\n\0\0\5h\r\n4\r\nello\r\n0\r\n\r\n"s);
  EXPECT(client.readMessage().starts_with("HTTP/1.1 200 "));
}

}  // namespace

TEST("Calls and messages are counted together, but for methods that are asked for") {
  Origin origin(answerTwice);
  plan::GrpcStatsFilter filter;
  filter.paths = {"/a.B/Asked"};
  Proxy proxy(withGrpcStats(origin.port(), filter));
  countedCall(proxy, "/a.B/Asked");
  countedCall(proxy, "/a.B/Other?x=y");
  countedCall(proxy, "/no-method");
  EXPECT(proxy.waitForRefreshed("cluster.origin.grpc.a.B.Asked.total", 1));
  EXPECT(proxy.waitForRefreshed("cluster.origin.grpc.a.B.Asked.request_message_count", 1));
  EXPECT(proxy.waitForRefreshed("cluster.origin.grpc.a.B.Asked.response_message_count", 2));
  EXPECT(proxy.waitForRefreshed("cluster.origin.grpc.total", 1));
  EXPECT(proxy.waitForRefreshed("cluster.origin.grpc.failure", 1));
  EXPECT(proxy.waitForRefreshed("cluster.origin.grpc.5", 1));
}

TEST("Names may be those of every method, with their dots replaced") {
  Origin origin(answerTwice);
  plan::GrpcStatsFilter filter;
  filter.all_methods = filter.replaces_dots = true;
  Proxy proxy(withGrpcStats(origin.port(), filter));
  countedCall(proxy, "/a.B/Any");
  EXPECT(proxy.waitForRefreshed("cluster.origin.grpc.a_B.Any.5", 1));
}

}  // namespace fairlead::test
