#include "caches/byte_range.h"

#include "test/native/test.h"

namespace fairlead::caches {

namespace {

// "2-4": from 2 to before 4; "": all of it.
std::string range(std::string_view header, uint64_t bytes) {
  const auto range = rangeOf(header, bytes);
  return range ? std::to_string(range->begin) + "-" + std::to_string(range->end) : "";
}

}  // namespace

TEST("A range is that part of what there is") {
  EXPECT_EQ(range("bytes=1-2", 5), "1-3");
  EXPECT_EQ(range("bytes=1-", 5), "1-5");
  EXPECT_EQ(range("bytes=1-99", 5), "1-5");
  EXPECT_EQ(range("bytes=-2", 5), "3-5");
  EXPECT_EQ(range("bytes=4-4", 5), "4-5");
}

TEST("All of it is no range, nor is what makes no sense") {
  for (const std::string_view header :
       {"", "bytes=0-", "bytes=0-4", "bytes=0-99", "bytes=-5", "bytes=-9", "bytes=", "bytes=-",
        "bytes=3-2", "bytes=a-b", "bytes=1-2,3-4", "chars=1-2", "bytes=1-2 ",
        "bytes=99999999999999999999-"}) {
    EXPECT_EQ(range(header, 5), "");
  }
}

TEST("A range behind the end is nothing") {
  EXPECT_EQ(range("bytes=5-", 5), "0-0");
  EXPECT_EQ(range("bytes=9-20", 5), "0-0");
  EXPECT_EQ(range("bytes=-0", 5), "0-0");
  EXPECT_EQ(range("bytes=0-", 0), "0-0");
}

}  // namespace fairlead::caches
