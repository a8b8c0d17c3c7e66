// A deterministic automaton that is made of a program while it runs: a state stands for all places
// in the program that are possible at once, and each step that was taken before is one look-up.
// States are bounded; when they are used up all are forgotten. One thread's.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/regex/program.h"
#include "base/regex/sparse_set.h"

namespace fairlead::regex {

class Dfa {
 public:
  enum class Scope : uint8_t { Whole, Anywhere };
  enum class Answer : uint8_t { No, Yes, GaveUp };

  // What making a state needs; one for all of a thread.
  struct Scratch {
    SparseSet reached;
    SparseSet next;
    std::vector<uint32_t> pending;
    std::vector<uint32_t> key;
  };

  // The program must outlive every run().
  Dfa(const Program& program, Scope scope);

  // Whether the text fits. Gives up when it makes more states than it uses.
  Answer run(const Program& program, std::string_view text, Scratch& scratch);
  // No: no text that begins so fits, whatever follows.
  Answer runBeginning(const Program& program, std::string_view beginning, Scratch& scratch);
  // What it holds, in 32-bit words.
  size_t words() const {
    return table_.size() + keys_.size() + 3 * states_.size() + buckets_.size();
  }

 private:
  struct State {
    // In keys_: the instructions, ascending.
    uint32_t key_begin;
    uint32_t key_size;
    Neighbour before;
  };

  // Where the text leads: a state, kNo, kYes, or kUnknown where it gives up.
  uint32_t follow(const Program& program, std::string_view text, Scratch& scratch);
  uint32_t begin(const Program& program, Scratch& scratch);
  uint32_t makeStep(const Program& program, uint32_t at, uint32_t symbol, Scratch& scratch);
  bool reach(const Program& program, const State& state, uint8_t conditions,
             Scratch& scratch) const;
  // The state of scratch.key: an old one or a new one.
  uint32_t intern(Neighbour before, const Scratch& scratch);
  void rehash();
  void forget();
  Neighbour asSeen(const Program& program, Neighbour neighbour) const;

  const Scope scope_;
  // A match may begin anywhere: the start is reached before every byte.
  const bool restarts_;
  // Symbols: classes of bytes, and the end of the text.
  const uint32_t stride_;
  // A row for each state; a state is called by where its row begins. An element is a state, or one
  // of kUnknown, kNo and kYes.
  std::vector<uint32_t> table_;
  std::vector<State> states_;
  std::vector<uint32_t> keys_;
  // Open addressing by key: the state's number + 1, or 0.
  std::vector<uint32_t> buckets_;
  // 0: not made yet.
  uint32_t start_ = 0;
  bool has_forgotten_ = false;
};

}  // namespace fairlead::regex
