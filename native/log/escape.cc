#include "log/escape.h"

#include <cstdint>

namespace fairlead::log {

namespace {

// The letter after the backslash, or '\0'.
char shortEscape(char c) {
  switch (c) {
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    case '"':
      return '"';
    case '\\':
      return '\\';
    default:
      return '\0';
  }
}

}  // namespace

std::string escapeLine(std::string_view line) {
  const size_t last = line.find_last_not_of(" \t\n\v\f\r");
  const size_t end = last == std::string_view::npos ? 0 : last + 1;
  std::string result;
  result.reserve(line.size());
  for (const char c : line.substr(0, end)) {
    const auto byte = static_cast<uint8_t>(c);
    const char letter = c == '\'' ? '\'' : shortEscape(c);
    if (letter != '\0') {
      result += {'\\', letter};
    } else if (byte < 0x20 || byte >= 0x7f) {
      result += {'\\', static_cast<char>('0' + (byte >> 6)),
                 static_cast<char>('0' + (byte >> 3 & 7)), static_cast<char>('0' + (byte & 7))};
    } else {
      result += c;
    }
  }
  result += line.substr(end);
  return result;
}

}  // namespace fairlead::log
