// Small questions about header values (RFC 9110 §5.6). Pure.
#pragma once

#include <cstdint>
#include <string_view>

namespace fairlead {

inline char lowerAscii(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

// Blanks as HTTP has them (RFC 9110 §5.6.3).
inline bool isBlank(char c) { return c == ' ' || c == '\t'; }

inline bool equalsIgnoreCase(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (lowerAscii(a[i]) != lowerAscii(b[i])) return false;
  }
  return true;
}

inline std::string_view trimmed(std::string_view text) {
  while (!text.empty() && isBlank(text.front())) text.remove_prefix(1);
  while (!text.empty() && isBlank(text.back())) text.remove_suffix(1);
  return text;
}

// Calls `visit` with each element of a comma-separated list, trimmed, until it returns false.
template <typename Visit>
void forEachToken(std::string_view list, Visit visit) {
  while (!list.empty()) {
    const size_t comma = list.find(',');
    if (!visit(trimmed(list.substr(0, comma)))) return;
    if (comma == std::string_view::npos) return;
    list.remove_prefix(comma + 1);
  }
}

// Whether a comma-separated list holds `token`, whatever the case.
inline bool containsToken(std::string_view list, std::string_view token) {
  if (list.size() <= token.size()) return equalsIgnoreCase(list, token);
  bool found = false;
  forEachToken(list, [&](std::string_view element) {
    found = equalsIgnoreCase(element, token);
    return !found;
  });
  return found;
}

// Whole text as a decimal number; false for anything else or on overflow.
inline bool parseDecimal(std::string_view text, uint64_t* out) {
  while (text.size() > 20 && text.front() == '0') text.remove_prefix(1);
  if (text.empty() || text.size() > 20) return false;
  uint64_t value = 0;
  for (char c : text) {
    const uint64_t digit = static_cast<uint8_t>(c - '0');
    // Only the twentieth digit can be one too many.
    if (digit > 9 || (text.size() == 20 && value > (UINT64_MAX - digit) / 10)) return false;
    value = value * 10 + digit;
  }
  *out = value;
  return true;
}

// As parseDecimal(), with blanks around the digits and one plus before them: as the real server
// reads what headers say of its own doings.
inline bool parseSpokenNumber(std::string_view text, uint64_t* out) {
  text = trimmed(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  return parseDecimal(text, out);
}

}  // namespace fairlead
