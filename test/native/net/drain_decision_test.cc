// How likely an answer is to be its connection's last while a listener drains.
#include "net/drain_decision.h"

#include "test/native/test.h"

namespace fairlead::test {

namespace {

using net::DrainDecision;
using net::DrainRamp;

// Of 4000 answers, how many in a hundred were the last.
int percentClosing(const DrainDecision& decision, net::Millis now) {
  Random random;
  int closing = 0;
  for (int i = 0; i < 4000; ++i) closing += decision.shouldClose(now, random);
  return closing / 40;
}

}  // namespace

TEST("Without a drain no answer is the last") {
  DrainDecision decision;
  EXPECT_EQ(percentClosing(decision, 1'000'000), 0);
}

TEST("The chance of being the last rises with every whole second until it is certain") {
  DrainDecision decision;
  decision.set({10'000, 4});
  EXPECT_EQ(percentClosing(decision, 10'999), 0);
  const int quarter = percentClosing(decision, 11'000);
  EXPECT(quarter > 19 && quarter < 31);
  const int three_quarters = percentClosing(decision, 13'999);
  EXPECT(three_quarters > 69 && three_quarters < 81);
  EXPECT_EQ(percentClosing(decision, 14'000), 100);
  EXPECT_EQ(percentClosing(decision, 10'000'000), 100);
}

TEST("A ramp of no length, or a clock that lags behind its start, is no trouble") {
  DrainDecision decision;
  decision.set({10'000, 0});
  EXPECT_EQ(percentClosing(decision, 9'999), 100);
  decision.set({10'000, 4});
  EXPECT_EQ(percentClosing(decision, 9'999), 0);
}

TEST("Of two ramps the one counts that reaches everybody first") {
  const DrainRamp slow{1000, 100};
  const DrainRamp fast{50'000, 10};
  EXPECT(soonerOf(slow, fast) == fast);
  EXPECT(soonerOf(fast, slow) == fast);
  EXPECT(soonerOf(DrainRamp(), slow) == slow);
  EXPECT(!soonerOf(DrainRamp(), DrainRamp()).isDraining());
}

TEST("A client that asks nothing is told late in a drain, most of them as soon as may be") {
  Random random;
  DrainDecision decision;
  EXPECT_EQ(decision.toldAt(random), net::kNever);
  decision.set({1000, 0, 10});
  int soon = 0;
  for (int i = 0; i < 1000; ++i) {
    const net::Millis at = decision.toldAt(random);
    EXPECT(at >= 8000 && at < 10'000);
    soon += at < 8500;
  }
  EXPECT(soon > 600);
  // A failed health check is no drain that ends.
  decision.set({0, 0});
  EXPECT_EQ(decision.toldAt(random), net::kNever);
}

}  // namespace fairlead::test
