// Runs all ways through a program side by side, one byte at a time (Pike): linear whatever the
// pattern, and it knows where groups begin and end. One thread's.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/regex/lookahead.h"
#include "base/regex/program.h"
#include "base/regex/sparse_set.h"

namespace fairlead::regex {

class Vm {
 public:
  enum class Scope : uint8_t { Whole, Anywhere };

  // Whether the text fits.
  bool matches(const Program& program, std::string_view text, Scope scope) {
    return run(program, text, 0, scope, 0) != nullptr;
  }
  // The leftmost match that begins at `from` or later, preferred as a backtracking engine would:
  // begin and end of it and of each group (kNoPosition: did not take part), as many as `slots`, at
  // least 2; null: there is none. Valid until the next call.
  const size_t* find(const Program& program, std::string_view text, size_t from, uint32_t slots) {
    return run(program, text, from, Scope::Anywhere, slots);
  }

 private:
  // Places in order of preference, each with the slots of the way that came there.
  struct Ways {
    SparseSet places;
    // By position in `places`.
    std::vector<size_t> slots;
  };
  // What is still to be followed, or, on the way back, a slot's former value.
  static constexpr uint32_t kNoRestore = UINT32_MAX;
  struct Pending {
    uint32_t place;
    uint32_t restore_slot;
    size_t value;
  };

  const size_t* run(const Program& program, std::string_view text, size_t from, Scope scope,
                    uint32_t slots);
  // Moves every way over the byte at `at`. True: one of them is a match.
  bool step(size_t at);
  // Adds all places that are reached from `place` without a byte. `slots_of` is as before on
  // return.
  void follow(Ways& ways, uint32_t place, size_t at, size_t* slots_of);

  const Program* program_ = nullptr;
  std::string_view text_;
  Scope scope_ = Scope::Anywhere;
  uint32_t slots_ = 0;
  Ways current_;
  Ways next_;
  Lookahead lookahead_;
  std::vector<Pending> pending_;
  std::vector<size_t> way_;
  std::vector<size_t> match_;
};

}  // namespace fairlead::regex
