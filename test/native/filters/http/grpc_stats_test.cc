// What is counted of calls.
#include "stats/query.h"
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

// The lines of statistics whose names end so.
std::string linesOf(Proxy& proxy, std::string_view end) {
  stats::Query query;
  query.filter = [end](std::string_view name) { return name.ends_with(end); };
  query.buckets = stats::Buckets::Cumulative;
  const auto page = stats::openText(proxy.dataPlane().stats(), std::move(query));
  std::string text;
  while (page->next(&text)) {
  }
  return text;
}

// How many, at the last flush.
std::string recordedTimes(Proxy& proxy) {
  proxy.dataPlane().refreshStats();
  proxy.dataPlane().stats().flushHistograms();
  // " B3.6e+06(3,3)\n"
  const std::string text = linesOf(proxy, "grpc.upstream_rq_time");
  const size_t begin = text.rfind(',') + 1;
  return text.substr(begin, text.rfind(')') - begin);
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

TEST("Times count, however many calls there were before anybody looked") {
  Origin origin(answerTwice);
  plan::GrpcStatsFilter filter;
  filter.records_times = true;
  Proxy proxy(withGrpcStats(origin.port(), filter));
  const auto call = [&proxy] { countedCall(proxy, "/a.B/Any"); };
  call();
  call();
  EXPECT(proxy.waitForRefreshed("cluster.origin.grpc.total", 2));
  call();
  EXPECT(proxy.waitForRefreshed("cluster.origin.grpc.total", 3));
  EXPECT_EQ(recordedTimes(proxy), "3");
}

TEST("Hosts make up statuses, which take no names from the calls that come later") {
  Origin origin([](Socket& socket, int) {
    for (int status = 20; !socket.readMessage().empty(); status += 10) {
      socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/grpc\r\ngrpc-status: " +
                   std::to_string(status) + "\r\ncontent-length: 0\r\n\r\n");
    }
  });
  plan::GrpcStatsFilter filter;
  filter.all_methods = true;
  Proxy proxy(withGrpcStats(origin.port(), filter));
  Socket client = proxy.connect();
  for (int i = 0; i < 1100; ++i) {
    client.write(
        "POST /a.B/Any HTTP/1.1\r\nhost: a\r\ncontent-type: application/grpc\r\n"
        "content-length: 0\r\n\r\n");
    EXPECT(client.readMessage().starts_with("HTTP/1.1 200 "));
  }
  client.write(
      "POST /a.B/Other HTTP/1.1\r\nhost: a\r\ncontent-type: application/grpc\r\n"
      "content-length: 0\r\n\r\n");
  EXPECT(client.readMessage().starts_with("HTTP/1.1 200 "));
  EXPECT(proxy.waitForRefreshed("cluster.origin.grpc.a.B.Any.total", 1100));
  EXPECT_EQ(linesOf(proxy, ".Any.20"), "cluster.origin.grpc.a.B.Any.20: 1\n");
  EXPECT(proxy.waitForRefreshed("cluster.origin.grpc.a.B.Other.total", 1));
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
