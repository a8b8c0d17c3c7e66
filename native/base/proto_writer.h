// Writes protobuf's wire format into a string: what leaves this process for others to read. Plans
// have a reader of their own.
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "base/varint.h"

namespace fairlead {

class ProtoWriter {
 public:
  void number(uint32_t field, uint64_t value) {
    appendVarint(&out_, field << 3);
    appendVarint(&out_, value);
  }
  // Of fixed64 and double.
  void fixed(uint32_t field, uint64_t value) {
    appendVarint(&out_, field << 3 | 1);
    for (int shift = 0; shift < 64; shift += 8) out_.push_back(static_cast<char>(value >> shift));
  }
  void real(uint32_t field, double value) { fixed(field, std::bit_cast<uint64_t>(value)); }
  // Text, bytes, or a message that is written already.
  void bytes(uint32_t field, std::string_view value) {
    appendVarint(&out_, field << 3 | 2);
    appendVarint(&out_, value.size());
    out_.append(value);
  }

  std::string_view view() const { return out_; }
  bool empty() const { return out_.empty(); }
  void clear() { out_.clear(); }
  std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

}  // namespace fairlead
