#include "http/header_syntax.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

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

constexpr uint64_t kOnes = 0x0101010101010101;

// Eight bytes at once: whether one may be a control character. Of a byte behind one it may be
// wrong.
bool mayHaveControls(uint64_t word) {
  const uint64_t below_blank = (word - kOnes * 0x20) & ~word;
  const uint64_t no_delete = word ^ kOnes * 0x7f;
  const uint64_t is_delete = (no_delete - kOnes) & ~no_delete;
  return ((below_blank | is_delete) & kOnes * 0x80) != 0;
}

uint64_t wordAt(std::string_view text, size_t at) {
  uint64_t word;
  std::memcpy(&word, text.data() + at, sizeof(word));
  return word;
}

bool isCleanByteByByte(std::string_view value) {
  return std::ranges::none_of(value, [](char c) {
    const auto byte = static_cast<uint8_t>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7f;
  });
}

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
  if (value.size() < 8) return isCleanByteByByte(value);
  bool may_have_controls = mayHaveControls(wordAt(value, value.size() - 8));
  for (size_t at = 0; at + 8 < value.size(); at += 8) {
    may_have_controls |= mayHaveControls(wordAt(value, at));
  }
  return !may_have_controls || isCleanByteByByte(value);
}

std::optional<std::string> brokenHeader(std::string_view path, std::string_view authority,
                                        const HeaderMap& headers) {
  const auto badValueOf = [](std::string_view name) {
    return "invalid header value for: " + std::string(name);
  };
  if (!isWord(path)) return badValueOf(":path");
  if (!isWord(authority)) return badValueOf(":authority");
  for (const HeaderEntry& entry : headers) {
    if (entry.name_size == 0) continue;
    if (entry.id == HeaderId::Other && !isHeaderName(entry.name()))
      return "invalid header name: " + std::string(entry.name());
    if (!isHeaderValue(entry.value())) return badValueOf(entry.name());
  }
  return std::nullopt;
}

}  // namespace fairlead::http
