// Requests that are turned away as hosts fail.
#include "filters/http/admission_control.h"

#include "test/native/support/exchange.h"
#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

plan::LiveNumber following(uint64_t value) {
  plan::LiveNumber live;
  live.value = value;
  return live;
}

plan::AdmissionControl admission() {
  plan::AdmissionControl control;
  control.enabled = following(1);
  plan::SuccessRange range;
  range.end = 500;
  control.http_success.push_back(range);
  control.sampling_window_ms = 30'000;
  control.aggression = following(1'000'000);
  control.success_threshold = following(95'000'000);
  control.max_rejection = following(100'000'000);
  control.rps_threshold = following(0);
  return control;
}

}  // namespace

TEST("A history forgets what is older than its window") {
  filters::AdmissionHistory history(2'000);
  history.add(true, 1'000);
  history.add(false, 1'500);
  history.add(false, 2'500);
  EXPECT_EQ(history.counts(2'500).requests, 3u);
  EXPECT_EQ(history.counts(2'500).successes, 1u);
  EXPECT_EQ(history.counts(3'000).requests, 1u);
  EXPECT_EQ(history.averageRps(9'000), 0u);
}

TEST("Requests are turned away once hosts have failed for long") {
  Origin origin([](Socket& socket, int) {
    while (!socket.readMessage().empty()) {
      socket.write("HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n");
    }
  });
  plan::Update plan = httpPlan({origin.port()});
  managerOf(plan).http_filters.emplace_back();
  managerOf(plan).http_filters[0].admission_control = admission();
  Proxy proxy(plan);
  bool was_rejected = false;
  for (int i = 0; i < 200 && !was_rejected; ++i) {
    was_rejected = get(proxy, "/").starts_with("HTTP/1.1 503 ");
  }
  EXPECT(was_rejected);
  EXPECT_EQ(proxy.stat("http.in.admission_control.rq_rejected"), 1u);
  EXPECT_EQ(proxy.stat("http.in.admission_control.rq_success"), 0u);
}

}  // namespace fairlead::test
