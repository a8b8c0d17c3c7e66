// Bodies that pass at a rate, with what tells how long it took.
#include <chrono>

#include "filters/http/byte_bucket.h"
#include "test/native/support/exchange.h"
#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

plan::Update withBandwidth(uint16_t port, uint64_t kbps) {
  plan::Update plan = httpPlan({port});
  managerOf(plan).http_filters.emplace_back();
  plan::BandwidthLimit& limit = managerOf(plan).http_filters[0].bandwidth_limit.emplace();
  limit.stat_prefix = "bw";
  limit.limits_request = limit.limits_response = true;
  limit.limit_kbps = kbps;
  limit.fill_interval_ms = 20;
  return plan;
}

}  // namespace

TEST("A bucket of bytes is full at first, and never gives more than comes") {
  filters::ByteBucket bucket(1'000, 5'000'000);
  EXPECT_EQ(bucket.take(600, 5'000'000), 600u);
  EXPECT_EQ(bucket.take(600, 5'000'000), 400u);
  EXPECT_EQ(bucket.take(1, 5'000'000), 0u);
  EXPECT_EQ(bucket.take(600, 5'100'000), 100u);
  EXPECT_EQ(bucket.take(5'000, 60'000'000), 1'000u);
}

TEST("A body within the limit passes whole, both ways") {
  Origin origin([](Socket& socket, int) {
    const std::string message = socket.readMessage();
    socket.write("HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\n" +
                 message.substr(message.size() - 3));
  });
  Proxy proxy(withBandwidth(origin.port(), 100));
  Socket client = proxy.connect();
  client.write("POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\nabc");
  EXPECT(client.readMessage().ends_with("\r\n\r\nabc"));
  EXPECT_EQ(proxy.stat("bw.http_bandwidth_limit.request_enabled"), 1u);
  EXPECT_EQ(proxy.stat("bw.http_bandwidth_limit.response_allowed_total_size"), 3u);
  EXPECT(proxy.waitFor("bw.http_bandwidth_limit.response_pending", 0));
}

TEST("A body beyond a second's worth takes the time that it takes") {
  const std::string body(3'000, 'x');
  Origin origin(answering(body));
  Proxy proxy(withBandwidth(origin.port(), 2));
  const auto begin = std::chrono::steady_clock::now();
  EXPECT(get(proxy, "/").ends_with(body));
  const auto elapsed = std::chrono::steady_clock::now() - begin;
  // 2,048 bytes at once, the rest at that rate.
  EXPECT(elapsed >= std::chrono::milliseconds(400));
  EXPECT(proxy.stat("bw.http_bandwidth_limit.response_enforced") > 0u);
}

TEST("Trailers say how long a body took, and how much of that was made here") {
  const std::string body(3'000, 'x');
  Origin origin([&body](Socket& socket, int) {
    socket.readMessage();
    socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nbb8\r\n" + body +
                 "\r\n0\r\n\r\n");
  });
  plan::Update plan = withBandwidth(origin.port(), 2);
  managerOf(plan).http_filters[0].bandwidth_limit->adds_trailers = true;
  managerOf(plan).http_filters[0].bandwidth_limit->trailer_prefix = "mine-";
  managerOf(plan).enable_trailers = true;
  Proxy proxy(plan);
  Socket client = proxy.connect();
  client.write("GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
  const std::string answer = client.readAll();
  EXPECT(answer.find("\r\nmine-bandwidth-response-delay-ms: ") != std::string::npos);
  EXPECT(answer.find("\r\nmine-bandwidth-response-filter-delay-ms: ") != std::string::npos);
  EXPECT(answer.find("request") == std::string::npos);
}

}  // namespace fairlead::test
