// Protobuf's wire format: numbers and tags, written and read. Pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/varint.h"
#include "filters/transcoder/types.h"

namespace fairlead::transcoder {

enum class WireType : uint8_t { Varint, Fixed64, Delimited, StartGroup, EndGroup, Fixed32 };

inline void appendTag(std::string* out, uint32_t number, WireType type) {
  appendVarint(out, uint64_t{number} << 3 | static_cast<uint64_t>(type));
}
inline void appendDelimited(std::string* out, uint32_t number, std::string_view bytes) {
  appendTag(out, number, WireType::Delimited);
  appendVarint(out, bytes.size());
  out->append(bytes);
}
// Little-endian, as numbers of all machines are that this runs on.
template <typename Number>
void appendFixed(std::string* out, Number value) {
  char bytes[sizeof(value)];
  std::memcpy(bytes, &value, sizeof(value));
  out->append(bytes, sizeof(value));
}
inline uint64_t zigZag(int64_t value) {
  return static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
}
inline int64_t unZigZag(uint64_t value) {
  return static_cast<int64_t>(value >> 1 ^ (~(value & 1) + 1));
}

inline WireType wireTypeOf(Kind kind) {
  switch (kind) {
    case Kind::Double:
    case Kind::Fixed64:
    case Kind::SFixed64:
      return WireType::Fixed64;
    case Kind::Float:
    case Kind::Fixed32:
    case Kind::SFixed32:
      return WireType::Fixed32;
    case Kind::String:
    case Kind::Message:
    case Kind::Bytes:
      return WireType::Delimited;
    case Kind::Group:
      return WireType::StartGroup;
    default:
      return WireType::Varint;
  }
}

// Takes from the front of bytes.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  bool isAtEnd() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }
  // At most as much as there is.
  void skip(uint64_t bytes) { rest_.remove_prefix(std::min<uint64_t>(bytes, rest_.size())); }

  // These: false, there is no such thing.
  bool varint(uint64_t* value) {
    *value = 0;
    for (size_t i = 0; i < rest_.size() && i < 10; ++i) {
      const auto byte = static_cast<uint8_t>(rest_[i]);
      *value |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
      if (byte < 0x80) {
        rest_.remove_prefix(i + 1);
        return true;
      }
    }
    return false;
  }
  template <typename Number>
  bool fixed(Number* value) {
    if (rest_.size() < sizeof(*value)) return false;
    std::memcpy(value, rest_.data(), sizeof(*value));
    rest_.remove_prefix(sizeof(*value));
    return true;
  }
  bool delimited(std::string_view* bytes) {
    uint64_t size = 0;
    if (!varint(&size) || size > rest_.size()) return false;
    *bytes = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return true;
  }
  // Also where the end has come, and where what comes is no tag.
  bool tag(uint32_t* number, WireType* type) {
    uint64_t value = 0;
    if (!varint(&value) || value > UINT32_MAX || value == 0) return false;
    *number = static_cast<uint32_t>(value >> 3);
    *type = static_cast<WireType>(value & 7);
    return true;
  }

 private:
  std::string_view rest_;
};

}  // namespace fairlead::transcoder
