#include "net/overload.h"

#include <memory>
#include <vector>

#include "stats/scopes.h"
#include "test/native/test.h"

namespace fairlead::net {

namespace {

using Subject = Overload::Subject;
using TimerType = Overload::TimerType;

plan::OverloadLevel levelOf(Subject subject, uint32_t millionths) { return {subject, millionths}; }

std::shared_ptr<const Overload::Update> updateOf(plan::OverloadState state) {
  return std::make_shared<const Overload::Update>(Overload::Update{std::move(state), {}});
}

class RescaledTimer final : public Timer {
 public:
  void onTimer() override {}
  void onRescale() override { ++rescaled; }
  int rescaled = 0;
};

}  // namespace

TEST("Nothing is shed before anything was said") {
  Random random;
  const Overload& none = Overload::none();
  EXPECT(!none.isActive());
  EXPECT(!none.takes(Subject::StopAcceptingRequests, random));
  EXPECT(!none.sheds(Subject::PointDecodeHeaders, random));
  EXPECT_EQ(none.scaled(TimerType::StreamIdle, 5000), 5000u);
}

TEST(
    "A saturated action falls on everybody, another one on its share, and what is not named on "
    "none") {
  Random random;
  Overload overload;
  plan::OverloadState state;
  state.levels = {levelOf(Subject::StopAcceptingRequests, 1'000'000),
                  levelOf(Subject::DisableHttpKeepalive, 250'000)};
  overload.set(updateOf(state), 0);
  EXPECT(overload.isActive());
  EXPECT(overload.isSaturated(Subject::StopAcceptingRequests));
  EXPECT(!overload.isSaturated(Subject::DisableHttpKeepalive));
  constexpr int kTries = 20'000;
  int all = 0;
  int some = 0;
  int none = 0;
  for (int i = 0; i < kTries; ++i) {
    all += overload.takes(Subject::StopAcceptingRequests, random);
    some += overload.takes(Subject::DisableHttpKeepalive, random);
    none += overload.takes(Subject::RejectIncomingConnections, random);
  }
  EXPECT_EQ(all, kTries);
  // Six standard deviations.
  EXPECT(some > kTries / 4 - 370 && some < kTries / 4 + 370);
  EXPECT_EQ(none, 0);
  overload.set(updateOf({}), 0);
  EXPECT(!overload.isActive());
  EXPECT(!overload.takes(Subject::StopAcceptingRequests, random));
}

TEST("A load shed point counts what it sheds, on its worker") {
  Random random;
  stats::Registry registry(2);
  auto block = registry.create<stats::LoadShedPoint>(stats::plainScope("overload.point."));
  auto update = std::make_shared<Overload::Update>();
  update->state.levels = {levelOf(Subject::PointDecodeHeaders, 1'000'000)};
  update->point_stats[static_cast<size_t>(Subject::PointDecodeHeaders)] = block;
  Overload overload;
  overload.set(update, 1);
  EXPECT(overload.sheds(Subject::PointDecodeHeaders, random));
  EXPECT(overload.sheds(Subject::PointDecodeHeaders, random));
  EXPECT(!overload.sheds(Subject::PointCreateCodec, random));
  EXPECT_EQ(registry.value("overload.point.shed_load_count").value_or(0), 2u);
}

TEST("Timers fall as far as timeouts are reduced, and to their minimum at most") {
  Overload overload;
  plan::OverloadState state;
  state.levels = {levelOf(Subject::ReduceTimeouts, 500'000)};
  plan::TimerMinimum idle;
  idle.timer = TimerType::ConnectionIdle;
  idle.min_ms = 2000;
  plan::TimerMinimum stream;
  stream.timer = TimerType::StreamIdle;
  stream.share_millionths = 100'000;
  state.timer_minimums = {idle, stream};
  overload.set(updateOf(state), 0);
  EXPECT(overload.hasNewTimes());
  EXPECT_EQ(overload.scaled(TimerType::ConnectionIdle, 10'000), 6000u);
  EXPECT_EQ(overload.scaledBefore(TimerType::ConnectionIdle, 10'000), 10'000u);
  EXPECT_EQ(overload.scaled(TimerType::StreamIdle, 1000), 550u);
  // Shorter than the minimum, off, and of a type that is not reduced.
  EXPECT_EQ(overload.scaled(TimerType::ConnectionIdle, 1000), 1000u);
  EXPECT_EQ(overload.scaled(TimerType::ConnectionIdle, 0), 0u);
  EXPECT_EQ(overload.scaled(TimerType::ConnectionMax, 10'000), 10'000u);
  state.levels = {levelOf(Subject::ReduceTimeouts, 1'000'000)};
  overload.set(updateOf(state), 0);
  EXPECT_EQ(overload.scaled(TimerType::ConnectionIdle, 10'000), 2000u);
  EXPECT_EQ(overload.scaledBefore(TimerType::ConnectionIdle, 10'000), 6000u);
  overload.set(updateOf(state), 0);
  EXPECT(!overload.hasNewTimes());
}

TEST("All armed timers of a wheel hear that times have changed, and those alone") {
  TimerWheel wheel(1000);
  std::vector<RescaledTimer> alarms(5);
  const Millis waits[] = {1, 300, 70'000, 20'000'000};
  for (size_t i = 0; i < 4; ++i) wheel.arm(&alarms[i], 1000 + waits[i]);
  wheel.rescale();
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(alarms[i].rescaled, 1);
  EXPECT_EQ(alarms[4].rescaled, 0);
}

}  // namespace fairlead::net
