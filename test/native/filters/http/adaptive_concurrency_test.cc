// Requests that are turned away as hosts become slow.
#include "filters/http/gradient_controller.h"
#include "test/native/support/exchange.h"
#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

plan::LiveNumber fixedAt(uint64_t value) {
  plan::LiveNumber live;
  live.value = value;
  return live;
}

plan::AdaptiveConcurrency adaptive() {
  plan::AdaptiveConcurrency control;
  control.enabled = fixedAt(1);
  control.status = 503;
  control.sample_percentile = fixedAt(50'000'000);
  control.max_concurrency = fixedAt(10);
  control.update_interval_ms = fixedAt(100);
  control.min_rtt_interval_ms = fixedAt(60'000);
  control.min_rtt_requests = fixedAt(3);
  control.jitter = fixedAt(0);
  control.min_concurrency = fixedAt(2);
  control.min_limit = fixedAt(2);
  control.buffer = fixedAt(25'000'000);
  return control;
}

struct Controller {
  explicit Controller(const plan::AdaptiveConcurrency& plan)
      : stats(registry.create<stats::GradientController>(stats::plainScope("g."))),
        controller(plan, slots, stats, 1'000'000) {}
  // One that takes so long.
  void pass(uint64_t begun_us, uint64_t us) {
    EXPECT(controller.enter(0, begun_us));
    controller.leave(begun_us, begun_us + us);
  }
  stats::Registry registry{1};
  RuntimeSlots slots;
  std::shared_ptr<filters::GradientController::Stats> stats;
  filters::GradientController controller;
};

}  // namespace

TEST("A request beyond the limit is answered, and one that ends makes room") {
  Origin origin(answering("origin"));
  plan::Update plan = httpPlan({origin.port()});
  managerOf(plan).http_filters.emplace_back();
  managerOf(plan).http_filters[0].adaptive_concurrency = adaptive();
  Proxy proxy(plan);
  for (int i = 0; i < 10; ++i) EXPECT(get(proxy, "/").ends_with("origin"));
  EXPECT_EQ(proxy.stat("http.in.adaptive_concurrency.gradient_controller.rq_blocked"), 0u);
}

TEST("As few requests as are told are let in while the least time is measured") {
  Controller one(adaptive());
  EXPECT_EQ(one.controller.limit(), 2u);
  EXPECT(one.controller.enter(0, 1'000'000));
  EXPECT(one.controller.enter(0, 1'000'000));
  EXPECT(!one.controller.enter(0, 1'000'000));
  one.controller.leaveUnanswered();
  EXPECT(one.controller.enter(0, 1'000'000));
}

TEST("The limit grows while latencies stay, and falls as they rise") {
  Controller one(adaptive());
  uint64_t now = 1'000'000;
  for (int i = 0; i < 3; ++i) one.pass(now, 1'000);
  for (int i = 0; i < 8; ++i) {
    one.pass(now += 200'000, 1'000);
  }
  const uint32_t grown = one.controller.limit();
  EXPECT(grown > 2);
  EXPECT(grown <= 10);
  for (int i = 0; i < 4; ++i) {
    one.pass(now += 200'000, 50'000);
  }
  EXPECT(one.controller.limit() < grown);
}

}  // namespace fairlead::test
