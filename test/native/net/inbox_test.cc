// Tasks for a loop, posted by others.
#include "net/inbox.h"

#include <vector>

#include "net/loop.h"
#include "test/native/support/kernel.h"
#include "test/native/test.h"

namespace fairlead::net {

using test::Call;
using test::callCount;

TEST("64 tasks wake a loop once, and run in order; one that a task posts runs in the next turn") {
  Loop loop;
  std::vector<int> run;
  const uint64_t before = callCount(Call::Write);
  for (int i = 0; i < 64; ++i) loop.post([&run, i] { run.push_back(i); });
  EXPECT_EQ(callCount(Call::Write), before + 1);
  loop.post([&loop, &run] { loop.post([&run] { run.push_back(64); }); });
  loop.turn(0);
  EXPECT_EQ(run.size(), 64u);
  EXPECT_EQ(callCount(Call::Write), before + 2);
  loop.turn(0);
  EXPECT_EQ(run.size(), 65u);
  for (int i = 0; i < static_cast<int>(run.size()); ++i) EXPECT_EQ(run[static_cast<size_t>(i)], i);
}

}  // namespace fairlead::net
