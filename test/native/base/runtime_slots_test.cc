#include "base/runtime_slots.h"

#include "test/native/test.h"

namespace fairlead {

TEST("a number without a slot stays; one with a slot follows it from its first value on") {
  RuntimeSlots slots;
  const RuntimeNumber fixed(7, 0, &slots);
  const RuntimeNumber unbound(8, 1, nullptr);
  const RuntimeNumber first(9, 1, &slots);
  const RuntimeNumber second(10, 2, &slots);
  EXPECT_EQ(first.value(), 9u);

  slots.set(std::vector<uint64_t>{90, 100});
  EXPECT_EQ(fixed.value(), 7u);
  EXPECT_EQ(unbound.value(), 8u);
  EXPECT_EQ(first.value(), 90u);
  EXPECT_EQ(second.value(), 100u);
}

TEST("a slot is where it was after many others were made") {
  RuntimeSlots slots;
  const RuntimeNumber number(1, 5, &slots);
  for (uint32_t other = 6; other < 10'000; ++other) slots.at(other).store(0);
  slots.at(5).store(42);
  EXPECT_EQ(number.value(), 42u);
}

}  // namespace fairlead
