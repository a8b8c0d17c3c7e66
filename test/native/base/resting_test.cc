// What rests between two uses.
#include "base/resting.h"

#include <memory>
#include <vector>

#include "test/native/test.h"

namespace fairlead {

namespace {

using Things = Resting<std::unique_ptr<int>>;

bool give(Things& things, int number) {
  auto thing = std::make_unique<int>(number);
  return things.give(thing);
}

}  // namespace

TEST("What came last is taken first; beyond the most nothing rests") {
  Things things(2);
  EXPECT(!things.take());
  EXPECT(give(things, 1) && give(things, 2));
  auto third = std::make_unique<int>(3);
  EXPECT(!things.give(third));
  EXPECT(third != nullptr);
  EXPECT_EQ(**things.take(), 2);
  EXPECT_EQ(**things.take(), 1);
  EXPECT(!things.take());
}

TEST("Trimming ends what nobody took since the time before, and keeps what was needed at once") {
  Things things(1000);
  for (int i = 0; i < 100; ++i) give(things, i);
  EXPECT_EQ(things.trim(), 0u);
  std::vector<std::unique_ptr<int>> used;
  for (int i = 0; i < 7; ++i) used.push_back(std::move(*things.take()));
  for (auto& thing : used) things.give(thing);
  EXPECT_EQ(things.trim(), 93u);
  EXPECT_EQ(things.size(), 7u);
  EXPECT_EQ(**things.take(), 93);
  EXPECT_EQ(things.trim(), 6u);
  EXPECT_EQ(things.trim(), 0u);
  EXPECT_EQ(things.size(), 0u);
}

}  // namespace fairlead
