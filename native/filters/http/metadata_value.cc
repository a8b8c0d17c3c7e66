#include "filters/http/metadata_value.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <new>

#include "base/text.h"
#include "base/utf8.h"

namespace fairlead::filters {

namespace {

constexpr int kMaxValueDepth = 50;

enum class WireType : uint8_t { Varint = 0, Fixed64 = 1, Bytes = 2 };

// Fields of one message, bounds-checked.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  // False: there is no more, or it is broken.
  bool next() {
    uint64_t tag = 0;
    if (rest_.empty() || !varint(&tag)) return false;
    field_ = tag >> 3;
    type_ = static_cast<WireType>(tag & 7);
    switch (tag & 7) {
      case 0:
        return varint(&number_);
      case 1:
        return fixed();
      case 2: {
        uint64_t size = 0;
        if (!varint(&size) || size > rest_.size()) return fail();
        bytes_ = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return true;
      }
      default:
        return fail();
    }
  }
  bool isBroken() const { return is_broken_; }
  // A field of another type is none that is known.
  bool is(uint64_t field, WireType type) const { return field_ == field && type_ == type; }
  uint64_t number() const { return number_; }
  std::string_view bytes() const { return bytes_; }

 private:
  bool fail() {
    is_broken_ = true;
    return false;
  }
  bool varint(uint64_t* out) {
    *out = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) return fail();
      const auto byte = static_cast<uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      *out |= uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return true;
    }
    return fail();
  }
  bool fixed() {
    if (rest_.size() < sizeof(number_)) return fail();
    std::memcpy(&number_, rest_.data(), sizeof(number_));
    rest_.remove_prefix(sizeof(number_));
    return true;
  }

  std::string_view rest_;
  uint64_t field_ = 0;
  WireType type_ = WireType::Varint;
  uint64_t number_ = 0;
  std::string_view bytes_;
  bool is_broken_ = false;
};

// JSON has no word for what is no number, nor for more than the largest: what it stood beside could
// not be read again.
void setNumber(double number, JsonNode* node) {
  if (std::isnan(number)) {
    node->kind = JsonNode::Kind::Null;
    return;
  }
  constexpr double kMost = std::numeric_limits<double>::max();
  node->kind = JsonNode::Kind::Number;
  node->number = std::clamp(number, -kMost, kMost);
}

bool readValue(std::string_view bytes, Arena& arena, int depth, JsonNode* out);

// A Struct (its entries are messages of a key and a value) or a ListValue.
bool readParts(std::string_view bytes, bool is_struct, Arena& arena, int depth, JsonNode* out) {
  out->kind = is_struct ? JsonNode::Kind::Object : JsonNode::Kind::Array;
  const JsonNode** link = &out->first;
  WireReader parts(bytes);
  while (parts.next()) {
    if (!parts.is(1, WireType::Bytes)) continue;
    JsonNode* const part = makeJsonNode(arena, JsonNode::Kind::Null);
    if (!is_struct) {
      if (!readValue(parts.bytes(), arena, depth, part)) return false;
    } else {
      WireReader entry(parts.bytes());
      while (entry.next()) {
        if (entry.is(1, WireType::Bytes)) part->key = entry.bytes();
        if (entry.is(2, WireType::Bytes) && !readValue(entry.bytes(), arena, depth, part)) {
          return false;
        }
      }
      if (entry.isBroken() || !isUtf8(part->key)) return false;
    }
    *link = part;
    link = &part->next;
  }
  return !parts.isBroken();
}

bool readValue(std::string_view bytes, Arena& arena, int depth, JsonNode* out) {
  if (depth > kMaxValueDepth) return false;
  WireReader reader(bytes);
  while (reader.next()) {
    if (reader.is(1, WireType::Varint)) {
      out->kind = JsonNode::Kind::Null;
    } else if (reader.is(2, WireType::Fixed64)) {
      setNumber(std::bit_cast<double>(reader.number()), out);
    } else if (reader.is(3, WireType::Bytes)) {
      out->kind = JsonNode::Kind::String;
      out->text = reader.bytes();
      if (!isUtf8(out->text)) return false;
    } else if (reader.is(4, WireType::Varint)) {
      out->kind = reader.number() != 0 ? JsonNode::Kind::True : JsonNode::Kind::False;
    } else if (const bool is_struct = reader.is(5, WireType::Bytes);
               is_struct || reader.is(6, WireType::Bytes)) {
      if (!readParts(reader.bytes(), is_struct, arena, depth + 1, out)) return false;
    }
  }
  return !reader.isBroken();
}

}  // namespace

JsonNode* makeJsonNode(Arena& arena, JsonNode::Kind kind) {
  char* room = arena.allocate(sizeof(JsonNode) + alignof(JsonNode) - 1);
  const size_t off = reinterpret_cast<uintptr_t>(room) % alignof(JsonNode);
  if (off != 0) room += alignof(JsonNode) - off;
  JsonNode* const node = new (room) JsonNode();
  node->kind = kind;
  return node;
}

// As the real server reads them: also in hexadecimal, and what is too large or too small for a
// number.
const JsonNode* numberNode(std::string_view text, Arena& arena) {
  text = trimmed(text);
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return nullptr;
  }
  const bool is_negative = text.starts_with('-');
  std::string_view digits = text.substr(is_negative ? 1 : 0);
  if (digits.empty() || digits.front() == '-') return nullptr;
  const bool is_hex = digits.starts_with("0x") || digits.starts_with("0X");
  if (is_hex) digits.remove_prefix(2);
  const auto format = is_hex ? std::chars_format::hex : std::chars_format::general;
  double number = 0;
  const char* const last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, number, format);
  if (end != last || error == std::errc::invalid_argument) return nullptr;
  if (error == std::errc::result_out_of_range) {
    const bool is_small =
        digits.find("e-") != std::string_view::npos || digits.find("E-") != std::string_view::npos;
    number = is_small ? 0 : std::numeric_limits<double>::infinity();
  }
  JsonNode* const node = makeJsonNode(arena, JsonNode::Kind::Number);
  setNumber(is_negative ? -number : number, node);
  return node;
}

const JsonNode* valueNode(std::string_view bytes, Arena& arena) {
  JsonNode* const node = makeJsonNode(arena, JsonNode::Kind::Null);
  return readValue(bytes, arena, 0, node) ? node : nullptr;
}

}  // namespace fairlead::filters
