// Patterns of log lines from anywhere: a byte of choices, the pattern up to a zero, the message.
// Nothing that is written may depend on more than these, or harm a reader when it is to be escaped.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "log/pattern.h"

namespace {

using fairlead::log::Level;
using fairlead::log::Pattern;
using fairlead::log::Record;

std::string lineOf(std::string_view pattern, bool escapes, const Record& record) {
  Pattern compiled(pattern, escapes);
  std::string line;
  // The second line of a pattern knows when the first was.
  compiled.format(record, &line);
  line.clear();
  compiled.format(record, &line);
  return line;
}

// What follows of a pattern's text without flags, and of the widths of the message.
void checkWidths(std::string_view message, const Record& record) {
  for (size_t width = 1; width <= 64; width += 9) {
    const std::string number = std::to_string(width);
    const std::string right = lineOf("%" + number + "v", false, record);
    const std::string left = lineOf("%-" + number + "v", false, record);
    const std::string cut = lineOf("%" + number + "!v", false, record);
    FL_CHECK(right.size() == std::max(width, message.size()) + 1);
    FL_CHECK(right.size() == left.size());
    FL_CHECK(std::string_view(left).starts_with(message));
    FL_CHECK(right.substr(right.size() - 1 - message.size(), message.size()) == message);
    FL_CHECK(cut.size() == width + 1);
  }
}

}  // namespace

std::vector<std::string> fuzzSeeds() {
  using namespace std::string_literals;
  return {
      "\0[%Y-%m-%d %T.%e][%t][%l][%n] [%g:%#] %v\0hello"s,
      "\1%a %A %b %B %h %c %C %Y %D %x %m %d %H %I %M %S %e %f %F %E\0m"s,
      "\2%p %r %R %T %X %z %P %^ %$ %@ %s %! %% %u %i %o %O %& %_ %j %* %+ %L\0[Tags: \"a\":\"b\"] c"s,
      "\3%10l|%-10!n|%=64v|%5!!|%12!q|%00099j|%-|%=\0a\nb\"\\\xff"s,
  };
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size - 1);
  const bool escapes = (data[0] & 1) != 0;
  const std::string_view pattern = input.substr(0, input.find('\0'));
  const std::string_view message = input.substr(std::min(input.size(), pattern.size() + 1));
  Record record;
  record.time_ns = 1'795'252'429'027'123'456 + data[0] * 86'400'000'000'000;
  record.level = static_cast<Level>(data[0] % 7);
  record.logger = "main";
  if ((data[0] & 2) != 0) {
    record.file = "native/log/x.cc";
    record.function = "void x(int)";
    record.line = 7;
  }
  record.text = message;
  const std::string line = lineOf(pattern, escapes, record);
  FL_CHECK(!line.empty() && line.back() == '\n');
  FL_CHECK(line == lineOf(pattern, escapes, record));
  // No flag makes more of its three characters than the message, six times, and a width.
  FL_CHECK(line.size() <= (pattern.size() + 1) * (6 * message.size() + 64) * (escapes ? 4 : 1) + 1);
  if (pattern.find('%') == std::string_view::npos && !escapes) {
    FL_CHECK(line == std::string(pattern) + '\n');
  }
  if (escapes) {
    const size_t end = line.find_last_not_of(" \t\n\v\f\r");
    for (const char c : std::string_view(line).substr(0, end + 1)) FL_CHECK(c >= ' ' && c <= '~');
  }
  if (message.size() <= 256) checkWidths(message, record);
  return 0;
}
