#include "base/proto_json.h"

#include <bit>
#include <cstdint>

#include "base/json.h"

namespace fairlead {

namespace {

struct Range {
  uint32_t first;
  uint32_t last;
};

constexpr Range kEscaped[] = {
    {0x7f, 0x9f},     {0xad, 0xad},     {0x600, 0x603},     {0x6dd, 0x6dd},     {0x70f, 0x70f},
    {0x17b4, 0x17b5}, {0x200b, 0x200f}, {0x2028, 0x202e},   {0x2060, 0x2064},   {0x206a, 0x206f},
    {0xfeff, 0xfeff}, {0xfff9, 0xfffb}, {0x1d173, 0x1d17a}, {0xe0001, 0xe0001}, {0xe0020, 0xe007f}};

bool isEscaped(uint32_t character) {
  if (character == '<' || character == '>') return true;
  for (const Range& range : kEscaped) {
    if (character >= range.first && character <= range.last) return true;
  }
  return false;
}

void appendUnit(uint32_t unit, std::string* out) {
  static constexpr char kHex[] = "0123456789abcdef";
  out->append("\\u");
  for (int shift = 12; shift >= 0; shift -= 4) out->push_back(kHex[unit >> shift & 15]);
}

void appendEscape(uint32_t character, std::string* out) {
  if (character < 0x10000) return appendUnit(character, out);
  appendUnit(0xd800 + ((character - 0x10000) >> 10), out);
  appendUnit(0xdc00 + ((character - 0x10000) & 0x3ff), out);
}

struct Character {
  // Of the text, at its front.
  size_t bytes;
  uint32_t value;
  bool is_valid;
};

// Longer forms than need be, and halves of pairs, are characters as well.
Character readCharacter(std::string_view text) {
  const auto lead = static_cast<uint8_t>(text[0]);
  if (lead < 0x80) return {1, lead, true};
  const auto length = static_cast<size_t>(std::countl_one(lead));
  if (length < 2 || length > 4) return {1, 0, false};
  uint32_t value = lead & (0x7fu >> length);
  for (size_t i = 1; i < length; ++i) {
    if (i == text.size()) return {i, 0, false};
    const auto byte = static_cast<uint8_t>(text[i]);
    if ((byte & 0xc0) != 0x80) return {i + 1, 0, false};
    value = value << 6 | (byte & 0x3f);
  }
  return {length, value, value <= 0x10ffff};
}

}  // namespace

void appendProtoJsonString(std::string* out, std::string_view text) {
  out->push_back('"');
  while (!text.empty()) {
    const Character next = readCharacter(text);
    const std::string_view bytes = text.substr(0, next.bytes);
    text.remove_prefix(next.bytes);
    if (!next.is_valid) {
      out->push_back(' ');
    } else if (isEscaped(next.value) || (next.value < 0x20 && bytes.size() > 1)) {
      appendEscape(next.value, out);
    } else if (bytes.size() > 1) {
      out->append(bytes);
    } else {
      appendJsonEscaped(out, bytes);
    }
  }
  out->push_back('"');
}

}  // namespace fairlead
