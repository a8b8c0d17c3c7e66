// START_TIME: each line was seen in the real server's log of 2026-11-21 07:27:53.084984 UTC.
#include "format/time_format.h"

#include <string>

#include "test/native/test.h"

namespace fairlead {

namespace {

constexpr uint64_t kMoment = 1'795'246'073'084'984;

std::string at(uint64_t wall_us, std::string_view format) {
  std::string text;
  format::TimeFormat(format).append(wall_us, &text);
  return text;
}
std::string shown(std::string_view format) { return at(kMoment, format); }

}  // namespace

TEST("without a format a time is shown with milliseconds and a Z") {
  EXPECT_EQ(shown(""), "2026-11-21T07:27:53.084Z");
  EXPECT_EQ(at(0, ""), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(at(1'709'164'800'999'999, ""), "2024-02-29T00:00:00.999Z");
  EXPECT_EQ(at(951'868'799'000'000, ""), "2000-02-29T23:59:59.000Z");
  EXPECT_EQ(at(4'107'542'399'000'000, ""), "2100-02-28T23:59:59.000Z");
}

TEST("days are named as strftime names them, each day of 130 years") {
  for (uint64_t day = 0; day < 130 * 366; ++day) {
    const uint64_t wall_us = day * 86'400'000'000 + 1'000;
    const std::string own = at(wall_us, "");
    if (own != at(wall_us, "%Y-%m-%dT%H:%M:%E3SZ")) {
      EXPECT_EQ(own, at(wall_us, "%Y-%m-%dT%H:%M:%E3SZ"));
      return;
    }
  }
}

TEST("fractions of a second have as many digits as asked for") {
  EXPECT_EQ(shown("%f"), "084984000");
  EXPECT_EQ(shown("%1f"), "0");
  EXPECT_EQ(shown("%3f.%3f %s.%3f"), "084.084 1795246073.084");
  EXPECT_EQ(shown("%9f"), "084984000");
  EXPECT_EQ(shown("%E3S"), "53.084");
  EXPECT_EQ(shown("%E0S"), "53");
  EXPECT_EQ(shown("%E12S"), "53.084984000000");
  EXPECT_EQ(shown("%E*S"), "53.084984");
  EXPECT_EQ(shown("%E3f"), "084");
  EXPECT_EQ(shown("%E*f"), "084984");
  EXPECT_EQ(at(5'000'000, "%E*S|%E*f"), "05|0");
}

TEST("seconds of the epoch may be made wider") {
  EXPECT_EQ(shown("%s"), "1795246073");
  EXPECT_EQ(shown("%3s"), "1795246073");
  EXPECT_EQ(shown("%12s"), "  1795246073");
  EXPECT_EQ(shown("%Es"), "1795246073");
}

TEST("times are in UTC and say so") {
  EXPECT_EQ(shown("%Y-%m-%dT%H:%M:%S%z"), "2026-11-21T07:27:53+0000");
  EXPECT_EQ(shown("%Z|%t|%%"), "UTC|\t|%");
  EXPECT_EQ(shown("%Ez %E*z"), "+00:00 +00:00:00");
  EXPECT_EQ(shown("%E4Y%ET%EY"), "2026T2026");
}

TEST("everything else is strftime's, also what it does not know") {
  EXPECT_EQ(shown("%a %A %b %B %c"), "Sat Saturday Nov November Sat Nov 21 07:27:53 2026");
  EXPECT_EQ(shown("%D %F %T %R %r"), "11/21/26 2026-11-21 07:27:53 07:27 07:27:53 AM");
  EXPECT_EQ(shown("%e %k %l %I %p %P"), "21  7  7 07 AM am");
  EXPECT_EQ(shown("%j %U %W %u %w %V %G %g"), "325 46 46 6 6 47 2026 26");
  EXPECT_EQ(shown("%-d %_d %OS"), "21 21 53");
  EXPECT_EQ(shown("%q %"), "%q %");
  EXPECT_EQ(shown("%%f %0f %10f"), "%f %0f       %10f");
  EXPECT_EQ(shown("%E1Y"), "%E1Y");
  EXPECT_EQ(shown("plain"), "plain");
}

TEST("a text longer than any buffer comes out whole") {
  const std::string long_text(3000, 'x');
  EXPECT_EQ(shown(long_text + "%Y"), long_text + "2026");
}

}  // namespace fairlead
