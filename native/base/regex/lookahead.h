// Tells whether what follows a place in a text fits a part of its program. Each question is
// answered once for a text: the time of all of them grows with the square of its length. One
// thread's.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/regex/program.h"
#include "base/regex/sparse_set.h"

namespace fairlead::regex {

class Lookahead {
 public:
  // Both must live until the next call.
  void begin(const Program& program, std::string_view text);
  // Whether the way goes on at `look`, a Look instruction of the program.
  bool holds(const Instruction& look, size_t at);

 private:
  enum class Answer : uint8_t { Unknown, No, Yes };

  bool matches(uint32_t start, size_t at);
  // Adds all places that are reached from `place` without a byte. True: one of them is a match.
  bool follow(SparseSet& places, uint32_t place, size_t at);

  const Program* program_ = nullptr;
  std::string_view text_;
  // For each Look and each place in the text.
  std::vector<Answer> answers_;
  SparseSet current_;
  SparseSet next_;
  std::vector<uint32_t> pending_;
};

}  // namespace fairlead::regex
