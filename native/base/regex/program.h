// A loaded regular expression program: instructions over bytes, and what matchers want to know of
// them beforehand. Immutable once loaded; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fairlead::regex {

enum class Op : uint8_t {
  Fork = 1,
  Capture = 2,
  Empty = 3,
  Match = 4,
  Fail = 5,
  Nop = 6,
  Bytes = 7,
  // Whether another part of the program matches from here on, or does not.
  Look = 8,
};

// Conditions on a place between two bytes.
enum Condition : uint8_t {
  kBeginLine = 1,
  kEndLine = 2,
  kBeginText = 4,
  kEndText = 8,
  kWordBoundary = 16,
  kNoWordBoundary = 32,
  kAllConditions = 63,
};

// What the byte beside a place is, as far as conditions can tell.
enum class Neighbour : uint8_t { Nothing, Newline, Word, Other };

Neighbour neighbourOf(uint8_t byte);
// The conditions that hold between the two.
uint8_t conditionsBetween(Neighbour before, Neighbour after);
uint8_t conditionsAt(std::string_view text, size_t at);

// A group that took no part in a match.
constexpr size_t kNoPosition = SIZE_MAX;

struct Edge {
  uint8_t first;
  uint8_t last;
  uint32_t target;
};

struct Instruction {
  Op op;
  // Of a fork: the preferred way.
  uint32_t next;
  // Of a fork: the other way; of a capture: the slot; of Empty: the conditions; of Look: where the
  // other part begins.
  uint32_t argument;
  // Of Bytes, ascending and disjoint. Of Look: its number, and whether the part must not match.
  uint32_t first_edge;
  uint32_t edge_count;
};

class Program {
 public:
  static Result<std::shared_ptr<const Program>> load(std::string_view bytes);
  ~Program();

  const std::vector<Instruction>& instructions() const { return instructions_; }
  uint32_t start() const { return start_; }
  // Two for the match and for each group.
  uint32_t slots() const { return slots_; }
  // Every match begins at the begin of the text.
  bool isAnchored() const { return is_anchored_; }
  // All conditions that the program asks for.
  uint8_t conditions() const { return conditions_; }
  // How many instructions look ahead.
  uint32_t lookCount() const { return look_count_; }
  // Whether a match can begin with that byte; all of them if one may be empty.
  bool canBegin(uint8_t byte) const { return can_begin_[byte]; }

  // Bytes that no instruction tells apart have one class; classes are 0 to classCount() - 1.
  const uint8_t* classes() const { return class_of_.data(); }
  uint32_t classCount() const { return class_count_; }
  // A byte of the class.
  uint8_t memberOf(uint32_t byte_class) const { return member_of_[byte_class]; }

  // The edge of a Bytes instruction that takes `byte`, or null.
  const Edge* edgeFor(const Instruction& instruction, uint8_t byte) const {
    const Edge* edge = edges_.data() + instruction.first_edge;
    for (const Edge* end = edge + instruction.edge_count; edge != end; ++edge) {
      if (byte <= edge->last) return byte >= edge->first ? edge : nullptr;
    }
    return nullptr;
  }

  // A small number that no other living program has, for tables by thread; and one that no other
  // program ever had, to notice that the small one has changed hands.
  uint32_t index() const { return index_; }
  uint64_t identity() const { return identity_; }

 private:
  class Reader;

  Program();
  // Whether a way from `start` on leads to a Look, without or with bytes.
  bool leadsToLook(uint32_t start) const;
  void analyse();
  void classifyBytes();
  void findBeginnings();

  std::vector<Instruction> instructions_;
  std::vector<Edge> edges_;
  uint32_t start_ = 0;
  uint32_t slots_ = 0;
  bool is_anchored_ = false;
  uint8_t conditions_ = 0;
  uint32_t look_count_ = 0;
  std::array<bool, 256> can_begin_ = {};
  std::array<uint8_t, 256> class_of_ = {};
  std::array<uint8_t, 256> member_of_ = {};
  uint32_t class_count_ = 0;
  uint32_t index_ = 0;
  uint64_t identity_ = 0;
};

}  // namespace fairlead::regex
