// How many retries a cluster's budget lets through.
#include "upstream/limits.h"

#include "test/native/test.h"

namespace fairlead::upstream {

TEST("Requests count for an interval from the end of their tenth of it on") {
  RequestWindow window(1000);
  window.add(10'000);
  window.add(10'099);
  window.add(10'100);
  EXPECT_EQ(window.count(10'100), 3u);
  EXPECT_EQ(window.count(11'099), 3u);
  EXPECT_EQ(window.count(11'100), 1u);
  EXPECT_EQ(window.count(11'200), 0u);
  window.add(50'000);
  EXPECT_EQ(window.count(50'000), 1u);
}

TEST("Intervals that are no multiple of ten milliseconds, or shorter, are as long as they say") {
  RequestWindow brief(5);
  brief.add(100);
  EXPECT_EQ(brief.count(105), 1u);
  EXPECT_EQ(brief.count(106), 0u);
  RequestWindow odd(19);
  for (uint64_t ms = 100; ms < 140; ++ms) odd.add(ms);
  EXPECT_EQ(odd.count(139), 20u);
}

TEST(
    "A budget with an interval is of the requests that began, without one of those that are "
    "active") {
  plan::CircuitLimits plan;
  plan.max_requests = 100;
  plan.retry_budget.emplace().share_millionths = 500'000;
  Limits active;
  active.configure(plan);
  EXPECT(active.requests.window() == nullptr);
  plan.retry_budget->interval_ms = 600'000;
  Limits begun;
  begun.configure(plan);
  for (Limits* limits : {&active, &begun}) {
    for (int i = 0; i < 8; ++i) EXPECT(limits->takeRequest());
    EXPECT_EQ(limits->maxRetries(), 4u);
    for (int i = 0; i < 8; ++i) limits->requests.giveBack();
  }
  EXPECT_EQ(active.maxRetries(), 0u);
  EXPECT_EQ(begun.maxRetries(), 4u);
  EXPECT(begun.canRetry());
  // The runtime's word.
  plan.retry_budget->interval_ms = 0;
  begun.configure(plan);
  EXPECT_EQ(begun.maxRetries(), 0u);
}

TEST("A share of retries has been asked for once a retry was to be had of it, granted or not") {
  plan::CircuitLimits plan;
  plan.max_retries = 3;
  Limits limits;
  limits.configure(plan);
  EXPECT(limits.canRetry());
  EXPECT(!limits.wasRetryShareAsked());
  plan.retry_budget.emplace();
  limits.configure(plan);
  EXPECT(!limits.wasRetryShareAsked());
  EXPECT(!limits.canRetry());
  EXPECT(limits.wasRetryShareAsked());
  // Its breaker is that of the limit which it stands in for.
  EXPECT(!limits.retries.isTouched());
  EXPECT(!limits.retries.isExhausted());
}

}  // namespace fairlead::upstream
