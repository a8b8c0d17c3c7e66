#include "log_files/log_lines.h"

#include "test/native/test.h"

namespace fairlead::log_files {
namespace {

struct Line {
  uint64_t ended_ns;
  const char* text;
};

LogLines linesOf(std::initializer_list<Line> all) {
  LogLines lines;
  for (const Line& line : all) {
    lines.text()->append(line.text);
    lines.lineDone(line.ended_ns);
  }
  return lines;
}

std::string textOf(const std::vector<LogLines>& parts) {
  std::string merged = "of before";
  return std::string(LogLines::inOrder(parts, &merged));
}

TEST(
    "lines of several are merged in the order of their ends; of two at once the first's comes "
    "first") {
  EXPECT_EQ(textOf({linesOf({{1, "a"}, {4, "d"}, {5, "e"}, {9, "i"}}), linesOf({}),
                    linesOf({{2, "b"}, {3, "c"}, {5, "f"}, {10, "j"}, {11, "k"}}),
                    linesOf({{7, "g"}, {8, "h"}})}),
            "abcdefghijk");
  EXPECT_EQ(textOf({}), "");
  EXPECT_EQ(textOf({linesOf({}), linesOf({{1, "alone"}})}), "alone");
}

TEST("what ended by a moment is taken, what ended later stays, and goes on") {
  LogLines lines = linesOf({{1, "one "}, {2, "two "}, {3, "three "}, {4, "four "}});
  std::vector<LogLines> taken(1);
  lines.takeUntil(2, &taken[0]);
  EXPECT_EQ(textOf(taken), "one two ");
  EXPECT_EQ(lines.size(), 11u);
  lines.text()->append("five");
  EXPECT_EQ(lines.lineDone(5), 4u);
  taken[0].clear();
  lines.takeUntil(3, &taken[0]);
  EXPECT_EQ(textOf(taken), "three ");
  taken[0].clear();
  lines.takeUntil(5, &taken[0]);
  EXPECT_EQ(textOf(taken), "four five");
  EXPECT(lines.empty());
  taken[0].clear();
  lines.takeUntil(6, &taken[0]);
  EXPECT(taken[0].empty());
}

TEST("later lines are appended with their moments") {
  LogLines lines = linesOf({{1, "a"}});
  lines.append(linesOf({{3, "c"}, {5, "e"}}));
  EXPECT_EQ(textOf({lines, linesOf({{2, "b"}, {4, "d"}})}), "abcde");
}

}  // namespace
}  // namespace fairlead::log_files
