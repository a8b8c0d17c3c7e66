// Finds matches and groups the simple way, one way through the program after the other, but never
// comes to the same place with the same rest of the text twice: linear too, and several times
// faster than the Vm as long as its table of places stays small. One thread's.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/regex/lookahead.h"
#include "base/regex/program.h"

namespace fairlead::regex {

class Backtracker {
 public:
  // Whether the table for this text is small enough.
  static bool fits(const Program& program, size_t text_size) {
    return text_size < kMaxPlaces && program.instructions().size() * (text_size + 1) <= kMaxPlaces;
  }

  // As Vm::find.
  const size_t* find(const Program& program, std::string_view text, size_t from, uint32_t slots);

 private:
  // 32 KiB of bits.
  static constexpr size_t kMaxPlaces = 256 * 1024;

  // A way not taken yet, or, on the way back, a slot's former value.
  static constexpr uint32_t kNoRestore = UINT32_MAX;
  struct Pending {
    uint32_t place;
    uint32_t restore_slot;
    // A position in the text, or the value.
    size_t value;
  };

  bool matchesAt(const Program& program, std::string_view text, size_t begin);
  bool follow(const Program& program, std::string_view text, uint32_t place, size_t at);
  bool isFirstVisit(uint32_t place, size_t at) {
    const size_t bit = place * stride_ + at;
    uint64_t& word = visited_[bit / 64];
    const uint64_t mask = uint64_t{1} << (bit % 64);
    if ((word & mask) != 0) return false;
    word |= mask;
    return true;
  }

  size_t stride_ = 0;
  std::vector<uint64_t> visited_;
  Lookahead lookahead_;
  std::vector<Pending> pending_;
  std::vector<size_t> slots_;
};

}  // namespace fairlead::regex
