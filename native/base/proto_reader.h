// Reads protobuf's wire format of a message that somebody else wrote: nothing is trusted, nothing
// is copied. Who reads a field by another type than it has gets nothing of it. Plans have a reader
// of their own, which says what is wrong (plan/wire.h).
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace fairlead {

class ProtoReader {
 public:
  explicit ProtoReader(std::string_view message) : rest_(message) {}

  // The next field. False: there is none, or the message is broken from here on.
  bool next() {
    uint64_t tag = 0;
    number_ = 0;
    bytes_ = {};
    if (rest_.empty() || !varint(&tag)) return false;
    tag_ = static_cast<uint32_t>(tag);
    if (field() == 0 || tag >> 32 != 0) return fail();
    switch (tag & 7) {
      case 0:
        return varint(&number_);
      case 1:
        return fixed(8);
      case 2: {
        uint64_t size = 0;
        if (!varint(&size)) return false;
        if (size > rest_.size()) return fail();
        bytes_ = rest_.substr(0, static_cast<size_t>(size));
        rest_.remove_prefix(static_cast<size_t>(size));
        return true;
      }
      case 5:
        return fixed(4);
      default:
        return fail();
    }
  }
  // All of it was read, and made sense.
  bool isWhole() const { return !is_broken_ && rest_.empty(); }

  uint32_t field() const { return tag_ >> 3; }
  // With how it is written: for whoever asks only for one kind of it.
  uint32_t tag() const { return tag_; }
  // Of numbers of any kind, as their bits.
  uint64_t number() const { return number_; }
  bool flag() const { return number_ != 0; }
  double real() const {
    double value;
    std::memcpy(&value, &number_, sizeof(value));
    return value;
  }
  // Of text, bytes and messages.
  std::string_view bytes() const { return bytes_; }

 private:
  bool fail() {
    is_broken_ = true;
    rest_ = {};
    return false;
  }
  bool varint(uint64_t* out) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7f) << (shift & 63);
      if (byte >= 0x80) continue;
      *out = value;
      return true;
    }
    return fail();
  }
  bool fixed(size_t size) {
    if (rest_.size() < size) return fail();
    std::memcpy(&number_, rest_.data(), size);
    rest_.remove_prefix(size);
    return true;
  }

  std::string_view rest_;
  std::string_view bytes_;
  uint64_t number_ = 0;
  uint32_t tag_ = 0;
  bool is_broken_ = false;
};

}  // namespace fairlead
