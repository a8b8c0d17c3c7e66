// Writes protobuf's wire format into a string: what leaves this process for others to read. Plans
// have a reader of their own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fairlead {

class ProtoWriter {
 public:
  void number(uint32_t field, uint64_t value) {
    varint(field << 3);
    varint(value);
  }
  // Text, bytes, or a message that is written already.
  void bytes(uint32_t field, std::string_view value) {
    varint(field << 3 | 2);
    varint(value.size());
    out_.append(value);
  }

  std::string_view view() const { return out_; }
  bool empty() const { return out_.empty(); }
  void clear() { out_.clear(); }
  std::string take() { return std::move(out_); }

 private:
  void varint(uint64_t value) {
    for (; value >= 0x80; value >>= 7) out_.push_back(static_cast<char>(value | 0x80));
    out_.push_back(static_cast<char>(value));
  }

  std::string out_;
};

}  // namespace fairlead
