#include "http/header_syntax.h"

#include <algorithm>
#include <array>

namespace fairlead::http {

namespace {

constexpr std::array<bool, 256> kTokens = [] {
  std::array<bool, 256> tokens{};
  for (int c = '0'; c <= '9'; ++c) tokens[static_cast<size_t>(c)] = true;
  for (int c = 'a'; c <= 'z'; ++c) {
    tokens[static_cast<size_t>(c)] = tokens[static_cast<size_t>(c - 'a' + 'A')] = true;
  }
  for (const char c : std::string_view("!#$%&'*+-.^_`|~")) tokens[static_cast<size_t>(c)] = true;
  return tokens;
}();

// What ends a word would end a request's first line before its time.
bool isWord(std::string_view value) {
  return isHeaderValue(value) && value.find_first_of(" \t") == std::string_view::npos;
}

}  // namespace

bool isHeaderName(std::string_view name) {
  if (name.starts_with(':')) name.remove_prefix(1);
  return !name.empty() &&
         std::ranges::all_of(name, [](char c) { return kTokens[static_cast<uint8_t>(c)]; });
}

bool isHeaderValue(std::string_view value) {
  return std::ranges::none_of(value, [](char c) {
    const auto byte = static_cast<uint8_t>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7f;
  });
}

std::optional<std::string> brokenHeader(const RequestHead& head) {
  const std::string kValue = "invalid header value for: ";
  if (!isWord(head.path)) return kValue + ":path";
  if (!isWord(head.authority)) return kValue + ":authority";
  for (const HeaderEntry& entry : head.headers) {
    if (entry.name_size == 0) continue;
    if (!isHeaderName(entry.name())) return "invalid header name: " + std::string(entry.name());
    if (!isHeaderValue(entry.value())) return kValue + std::string(entry.name());
  }
  return std::nullopt;
}

}  // namespace fairlead::http
