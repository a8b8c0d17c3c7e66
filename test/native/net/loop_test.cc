// A loop, and a system that does not give it what it needs.
#include "net/loop.h"

#include <cerrno>

#include "stats/block.h"
#include "stats/scopes.h"
#include "test/native/support/kernel.h"
#include "test/native/test.h"

namespace fairlead::net {

using test::Call;
using test::Refusing;

TEST("A loop that the system refuses what it needs says so, and is no loop") {
  const auto errorWithout = [](Call call, int error) {
    const Refusing refusing(call, error);
    const Loop loop;
    return loop.error();
  };
  EXPECT_EQ(errorWithout(Call::Eventfd, EMFILE), EMFILE);
  EXPECT_EQ(errorWithout(Call::EpollCreate, ENFILE), ENFILE);
  EXPECT_EQ(errorWithout(Call::EpollAdd, ENOSPC), ENOSPC);
  EXPECT_EQ(Loop().error(), 0);
}

TEST("A closed inbox drops what waits and what comes, with all that tasks hold") {
  Loop loop;
  const auto held = std::make_shared<int>(0);
  loop.post([held] { ++*held; });
  loop.closeInbox();
  loop.post([held] { ++*held; });
  EXPECT_EQ(held.use_count(), 1);
  loop.turn(0);
  EXPECT_EQ(*held, 0);
}

TEST("A loop records each turn, and how late it comes back where nothing came sooner") {
  using Times = stats::Dispatcher::Histogram;
  stats::Block<stats::Dispatcher> block(stats::plainScope("dispatcher."), 1);
  const auto recorded = [&block](Times histogram) {
    stats::BinCounts scratch;
    block.flushHistograms(&scratch);
    return block.total(static_cast<size_t>(histogram)).count();
  };
  Loop loop;
  loop.turn(0);
  EXPECT_EQ(recorded(Times::LoopDurationUs), 0u);

  loop.timeTurnsIn(block.shard(0));
  loop.turn(1);
  EXPECT_EQ(recorded(Times::LoopDurationUs), 1u);
  EXPECT_EQ(recorded(Times::PollDelayUs), 1u);
  // Something is there at once.
  loop.post([] {});
  loop.turn(10'000);
  EXPECT_EQ(recorded(Times::LoopDurationUs), 2u);
  EXPECT_EQ(recorded(Times::PollDelayUs), 1u);
}

}  // namespace fairlead::net
