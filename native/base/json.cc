#include "base/json.h"

#include <algorithm>
#include <cstdint>

#include "base/utf8.h"

namespace fairlead {

namespace {

constexpr bool isPlain(char c) { return c >= 0x20 && c != 0x7f && c != '"' && c != '\\'; }

void appendCode(std::string* out, char c) {
  static constexpr char kHex[] = "0123456789abcdef";
  out->append("\\u00");
  out->push_back(kHex[(static_cast<uint8_t>(c) >> 4) & 15]);
  out->push_back(kHex[c & 15]);
}

// The letter after the backslash; 0: it has none.
char shortEscape(char c) {
  switch (c) {
    case '"':
    case '\\':
      return c;
    case '\b':
      return 'b';
    case '\f':
      return 'f';
    case '\n':
      return 'n';
    case '\r':
      return 'r';
    case '\t':
      return 't';
    default:
      return 0;
  }
}

}  // namespace

void appendJsonString(std::string* out, std::string_view text) {
  out->push_back('"');
  appendJsonInside(out, text);
  out->push_back('"');
}

void appendJsonEscaped(std::string* out, std::string_view text) {
  for (const char c : text) {
    if (const char letter = shortEscape(c)) {
      out->push_back('\\');
      out->push_back(letter);
    } else if (static_cast<uint8_t>(c) < 0x20) {
      appendCode(out, c);
    } else {
      out->push_back(c);
    }
  }
}

bool isPlainJson(std::string_view text) { return std::all_of(text.begin(), text.end(), isPlain); }

void appendJsonInside(std::string* out, std::string_view text) {
  if (isPlainJson(text)) {
    out->append(text);
  } else if (isUtf8(text)) {
    appendJsonEscaped(out, text);
  } else {
    for (const char c : text) {
      if (isPlain(c)) {
        out->push_back(c);
      } else {
        appendCode(out, c);
      }
    }
  }
}

}  // namespace fairlead
