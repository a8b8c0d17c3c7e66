// Reads proto3's wire format, trusting nothing: every length is checked against what is left, and
// nothing is allocated that the input does not pay for. One error, the first, is kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/result.h"

namespace fairlead::plan {

class WireReader {
 public:
  WireReader(const void* data, size_t size)
      : begin_(static_cast<const uint8_t*>(data)), next_(begin_), end_(begin_ + size) {}

  bool ok() const { return error_.empty(); }
  Error error() const { return Error{error_}; }
  uint32_t field() const { return field_; }

  // Reads the next field's tag. False at the end of the message, or on an error.
  bool nextField(const char* message) {
    if (!ok() || next_ == end_) return false;
    uint64_t tag = 0;
    if (!varint(&tag, message)) return false;
    field_ = static_cast<uint32_t>(tag >> 3);
    type_ = static_cast<uint8_t>(tag & 7);
    if (field_ == 0 || tag >> 3 > UINT32_MAX) return fail(message, "field number out of range");
    return true;
  }

  // Once for each type, not for each field.
  template <typename Number>
  [[gnu::noinline]] bool readNumber(Number* out, const char* where) {
    uint64_t value = 0;
    if (type_ != kVarint) return fail(where, "expected a number");
    if (!varint(&value, where)) return false;
    if constexpr (std::is_same_v<Number, bool>) {
      *out = value != 0;
    } else {
      if (sizeof(Number) == 4 && value > UINT32_MAX) return fail(where, "number out of range");
      *out = static_cast<Number>(value);
    }
    return true;
  }

  template <typename Enum>
  bool readEnum(Enum* out, uint8_t last, const char* where) {
    static_assert(std::is_same_v<std::underlying_type_t<Enum>, uint8_t>);
    uint8_t value = 0;
    if (!readUpTo(last, &value, where)) return false;
    *out = static_cast<Enum>(value);
    return true;
  }

  [[gnu::noinline]] bool readBytes(std::string* out, const char* where) {
    std::string_view bytes;
    if (!delimited(&bytes, where)) return false;
    out->assign(bytes);
    return true;
  }

  bool readRepeatedBytes(std::vector<std::string>* out, const char* where) {
    return readBytes(&out->emplace_back(), where);
  }

  // Packed or one by one.
  template <typename Number>
  [[gnu::noinline]] bool readRepeatedNumber(std::vector<Number>* out, const char* where) {
    if (type_ == kVarint) return readNumber(&out->emplace_back(), where);
    std::string_view bytes;
    if (!delimited(&bytes, where)) return false;
    WireReader packed(bytes.data(), bytes.size());
    packed.type_ = kVarint;
    while (packed.next_ != packed.end_) {
      if (!packed.readNumber(&out->emplace_back(), where)) {
        error_ = packed.error_;
        return false;
      }
    }
    return true;
  }

  template <typename Read>
  bool readMessage(const char* where, Read read) {
    std::string_view bytes;
    if (!delimited(&bytes, where)) return false;
    if (depth_ >= kMaxDepth) return fail(where, "nested too deep");
    WireReader inner(bytes.data(), bytes.size());
    inner.depth_ = depth_ + 1;
    if (!read(inner)) {
      error_ = inner.error_;
      return false;
    }
    return true;
  }

  [[gnu::noinline]] bool skip(const char* where) {
    uint64_t ignored = 0;
    std::string_view bytes;
    switch (type_) {
      case kVarint:
        return varint(&ignored, where);
      case kFixed64:
        return advance(8, where);
      case kDelimited:
        return delimited(&bytes, where);
      case kFixed32:
        return advance(4, where);
      default:
        return fail(where, "unknown wire type");
    }
  }

 private:
  static constexpr uint8_t kVarint = 0;
  static constexpr uint8_t kFixed64 = 1;
  static constexpr uint8_t kDelimited = 2;
  static constexpr uint8_t kFixed32 = 5;
  static constexpr int kMaxDepth = 32;

  [[gnu::noinline]] bool readUpTo(uint8_t last, uint8_t* out, const char* where) {
    uint64_t value = 0;
    if (!readNumber(&value, where)) return false;
    if (value > last) return fail(where, "unknown enumerator");
    *out = static_cast<uint8_t>(value);
    return true;
  }

  bool varint(uint64_t* out, const char* where) {
    if (next_ == end_ || *next_ >= 0x80) return longVarint(out, where);
    *out = *next_++;
    return true;
  }

  [[gnu::noinline]] bool longVarint(uint64_t* out, const char* where) {
    uint64_t value = 0;
    for (int shift = 0; shift < 70; shift += 7) {
      if (next_ == end_) return fail(where, "ends inside a number");
      const uint8_t byte = *next_++;
      if (shift == 63 && byte > 1) break;
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) {
        *out = value;
        return true;
      }
    }
    return fail(where, "number too long");
  }

  bool delimited(std::string_view* out, const char* where) {
    uint64_t size = 0;
    if (type_ != kDelimited) return fail(where, "expected bytes");
    if (!varint(&size, where)) return false;
    if (size > static_cast<size_t>(end_ - next_)) return fail(where, "longer than its message");
    *out = {reinterpret_cast<const char*>(next_), static_cast<size_t>(size)};
    next_ += size;
    return true;
  }

  bool advance(size_t bytes, const char* where) {
    if (bytes > static_cast<size_t>(end_ - next_)) return fail(where, "ends inside a number");
    next_ += bytes;
    return true;
  }

  [[gnu::cold, gnu::noinline]] bool fail(const char* where, const char* what) {
    if (error_.empty()) {
      error_ = std::string("plan: ") + where + ": " + what + " (offset " +
               std::to_string(next_ - begin_) + " of its message)";
    }
    return false;
  }

  const uint8_t* const begin_;
  const uint8_t* next_;
  const uint8_t* const end_;
  uint32_t field_ = 0;
  uint8_t type_ = 0;
  int depth_ = 0;
  std::string error_;
};

}  // namespace fairlead::plan
