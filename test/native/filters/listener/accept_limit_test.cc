#include "filters/listener/accept_limit.h"

#include "net/loop.h"
#include "test/native/filters/listener/early_bytes.h"
#include "test/native/test.h"

namespace fairlead::filters {

TEST("Of a listener's new connections so many pass in a time, and each that does not is counted") {
  stats::Registry registry{2};
  RuntimeSlots slots;
  plan::LocalRateLimitFilter plan;
  plan.stat_prefix = "few";
  plan.max_tokens = 2;
  plan.tokens_per_fill = 1;
  plan.fill_interval_us = 60'000'000;
  const AcceptLimitConfig config(plan, registry, slots);
  const auto accept = [&](unsigned worker, uint64_t after_us) {
    test::EarlyBytes early;
    early.findings().accepted_at_us = net::Loop::readClockMicros() + after_us;
    return early.feed(*config.make(worker), "");
  };
  EXPECT_EQ(accept(0, 0), test::Verdict::Continue);
  EXPECT_EQ(accept(1, 0), test::Verdict::Continue);
  EXPECT_EQ(accept(0, 0), test::Verdict::Refuse);
  EXPECT_EQ(registry.value("listener_local_ratelimit.few.rate_limited").value_or(0), 1u);
  EXPECT_EQ(accept(1, 61'000'000), test::Verdict::Continue);
}

}  // namespace fairlead::filters
