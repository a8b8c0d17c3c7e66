// Regular expressions with RE2's meaning, in linear time: runs the program that src/plan/regex.ts
// compiled, over UTF-8 (a byte that is none counts as one character, U+FFFD).
// A Regex is immutable and may be used by all threads at once; what a search needs of memory is kept
// per thread, so that the steady state allocates nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fairlead {

class Regex {
 public:
  // Checks every jump and every size: the program may come from anywhere.
  static Result<Regex> load(std::string_view program);

  // Whether the whole text fits.
  bool fullMatch(std::string_view text) const;
  // Whether any part of it does.
  bool search(std::string_view text) const;
  // Appends the text with every match replaced; in `rewrite`, \0 is the match, \1 to \9 its groups,
  // \\ a backslash.
  void replaceAll(std::string_view text, std::string_view rewrite, std::string* out) const;

 private:
  enum class Op : uint8_t {
    Alt = 1,
    AltMatch = 2,
    Capture = 3,
    EmptyWidth = 4,
    Fail = 5,
    Match = 6,
    Nop = 7,
    Rune = 8,
  };
  struct Instruction {
    Op op;
    uint32_t out;
    uint32_t arg;
    uint32_t first_range;
    uint32_t range_count;
    // Which of the first 128 code points fit.
    uint64_t ascii[2];
  };
  struct Range {
    uint32_t first;
    uint32_t last;
  };
  struct Program {
    std::vector<Instruction> instructions;
    std::vector<Range> ranges;
    uint32_t start = 0;
    uint32_t slots = 0;
  };
  class Machine;

  explicit Regex(std::shared_ptr<const Program> program) : program_(std::move(program)) {}

  std::shared_ptr<const Program> program_;
};

}  // namespace fairlead
