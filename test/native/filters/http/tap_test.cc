// What taps record, and of which requests.
#include <mutex>

#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

class Traces final : public filters::TapSink {
 public:
  void onTrace(uint32_t, uint64_t, std::string bytes) override {
    const std::lock_guard lock(mutex_);
    traces_.push_back(std::move(bytes));
  }
  size_t count() {
    const std::lock_guard lock(mutex_);
    return traces_.size();
  }
  std::string at(size_t index) {
    const std::lock_guard lock(mutex_);
    return index < traces_.size() ? traces_[index] : std::string();
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> traces_;
};

plan::Tap tapOf(plan::TapMatch match) {
  plan::Tap tap;
  tap.match = std::move(match);
  tap.max_request_body_bytes = tap.max_response_body_bytes = 5;
  tap.share_millionths = 1'000'000;
  return tap;
}

plan::Update tapPlan(uint16_t port, Boxed<plan::Tap> tap) {
  plan::Update plan = httpPlan({port});
  plan::HttpFilter filter;
  filter.tap.emplace();
  filter.tap->tap = std::move(tap);
  managerOf(plan).http_filters.push_back(filter);
  return plan;
}

}  // namespace

TEST("A tap records the request and its answer, bodies up to their limits") {
  Origin origin(answering("0123456789"));
  const auto traces = std::make_shared<Traces>();
  Proxy proxy(tapPlan(origin.port(), tapOf({})), 1, traces);
  Socket client = proxy.connect();
  client.write("POST /a HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\nabc");
  EXPECT(client.readMessage().ends_with("0123456789"));
  EXPECT(proxy.waitUntil([&] { return traces->count() == 1; }));
  const std::string trace = traces->at(0);
  EXPECT(has(trace, std::string_view("\x0a\x05:path\x12\x02/a", 11)));
  EXPECT(has(trace, std::string_view("\x12\x05\x0a\x03"
                                     "abc",
                                     7)));
  // Truncated.
  EXPECT(has(trace, std::string_view("\x12\x09\x0a\x05"
                                     "01234\x18\x01",
                                     11)));
  EXPECT(has(trace, std::string_view("\x0a\x07:status\x12\x03"
                                     "200",
                                     14)));
  EXPECT_EQ(proxy.stat("http.in.tap.rq_tapped"), 1u);
}

TEST("A tap records only what it is told to, from the next request on") {
  Origin origin(answering("ok"));
  const auto traces = std::make_shared<Traces>();
  Proxy proxy(tapPlan(origin.port(), std::nullopt), 1, traces);
  get(proxy, "/before");
  plan::TapMatch wanted;
  wanted.kind = plan::TapMatch::Kind::RequestHeaders;
  wanted.headers.push_back(pathIs("/wanted"));
  plan::Update on;
  on.taps.emplace_back();
  on.taps[0].tap = tapOf(wanted);
  EXPECT(proxy.dataPlane().apply(on).empty());
  EXPECT(proxy.waitUntil([&] {
    get(proxy, "/wanted");
    return traces->count() > 0;
  }));
  get(proxy, "/other");
  const size_t count = traces->count();
  plan::Update off;
  off.taps.emplace_back();
  EXPECT(proxy.dataPlane().apply(off).empty());
  get(proxy, "/other");
  EXPECT(!has(traces->at(0), "/before"));
  EXPECT(!has(traces->at(count - 1), "/other"));
  plan::Update wrong;
  wrong.taps.emplace_back();
  wrong.taps[0].id = 7;
  EXPECT_EQ(proxy.dataPlane().apply(wrong).size(), 1u);
}

TEST("A streaming tap tells what came before it knew that it wants the request") {
  Origin origin(answering("ok"));
  const auto traces = std::make_shared<Traces>();
  plan::TapMatch match;
  match.kind = plan::TapMatch::Kind::RequestBody;
  match.patterns = {"needle"};
  plan::Tap tap = tapOf(match);
  tap.streaming = true;
  tap.max_request_body_bytes = 100;
  Proxy proxy(tapPlan(origin.port(), tap), 1, traces);
  Socket client = proxy.connect();
  client.write("POST /hay HTTP/1.1\r\nhost: a\r\ncontent-length: 6\r\n\r\nnothin");
  client.readMessage();
  EXPECT_EQ(traces->count(), 0u);
  client.write("POST /found HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nhay nee");
  EXPECT(proxy.waitFor("http.in.downstream_rq_total", 2));
  client.write("dle");
  client.readMessage();
  EXPECT(proxy.waitUntil([&] { return traces->count() == 4; }));
  EXPECT(has(traces->at(0), "/found"));
  EXPECT(has(traces->at(1), "hay needle"));
  EXPECT(has(traces->at(2), ":status"));
  EXPECT(has(traces->at(3), "ok"));
}

TEST("A body that could go past user space does not where a tap wants to see it") {
  const std::string body(1 << 20, 'x');
  Origin origin(answering(body));
  const auto traces = std::make_shared<Traces>();
  plan::Tap tap = tapOf({});
  tap.max_response_body_bytes = 2 << 20;
  Proxy proxy(tapPlan(origin.port(), tap), 1, traces);
  EXPECT(get(proxy, "/").ends_with(body));
  EXPECT(proxy.waitUntil([&] { return traces->count() == 1; }));
  EXPECT(has(traces->at(0), body));
}

TEST("A share of requests is left out of the tap and counted") {
  Origin origin(answering("ok"));
  const auto traces = std::make_shared<Traces>();
  plan::Tap tap = tapOf({});
  tap.share_millionths = 0;
  Proxy proxy(tapPlan(origin.port(), tap), 1, traces);
  get(proxy, "/");
  EXPECT_EQ(proxy.stat("http.in.tap.rq_sampled_out"), 1u);
  EXPECT_EQ(traces->count(), 0u);
}

}  // namespace fairlead::test
