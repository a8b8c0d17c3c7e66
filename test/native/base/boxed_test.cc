// What is seldom there is copied with what is in it, and moved without.
#include "base/boxed.h"

#include <string>

#include "test/native/test.h"

namespace fairlead {

TEST("a box is empty until something is put in, and again once that is taken out") {
  Boxed<std::string> box;
  EXPECT(!box);
  EXPECT(!box.has_value());
  EXPECT(box.get() == nullptr);
  EXPECT_EQ(std::string(box.value_or("other")), "other");
  box.emplace() = "here";
  EXPECT(box.has_value());
  EXPECT_EQ(*box, "here");
  EXPECT_EQ(box->size(), 4u);
  EXPECT_EQ(std::string(box.value_or("other")), "here");
  box.reset();
  EXPECT(!box);
}

TEST("a copy of a box has a copy of what is in it") {
  Boxed<std::string> box(std::string("one"));
  Boxed<std::string> copy = box;
  *copy = "two";
  EXPECT_EQ(*box, "one");
  box = copy;
  copy.reset();
  EXPECT_EQ(*box, "two");
  const std::string* const there = box.get();
  const Boxed<std::string> moved = std::move(box);
  EXPECT(moved.get() == there);
}

}  // namespace fairlead
