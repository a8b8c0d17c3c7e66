// Which action a tree of matchers has for something that has properties: a connection that asks for
// its filter chain, a host that asks for its transport socket, a request that asks for its route.
// Immutable; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "base/runtime_slots.h"
#include "match/metadata_condition.h"
#include "match/string_matcher.h"
#include "plan/plan.gen.h"

namespace fairlead::match {

// What is asked: a tenant's, on the stack.
class Facts {
 public:
  virtual ~Facts() = default;
  // The input's value; nullopt: it has none. `room` may hold it, until it is asked again.
  virtual std::optional<std::string_view> text(const plan::MatchInput& input,
                                               std::string* room) const = 0;
  // The bytes of an address, 4 or 16; empty: it is none.
  virtual std::string_view address(const plan::MatchInput& input) const { return {}; }
  // The value of metadata that the condition asks for; nullopt: there is none.
  virtual std::optional<MetadataText> metadata(const MetadataCondition& condition) const {
    return std::nullopt;
  }
};

class MatchTree {
 public:
  static constexpr int kNone = -1;

  // The error says what is not a tree.
  // `slots`: where its shares follow runtime values; null: they stay.
  static Result<MatchTree> build(const plan::MatchTree& plan, RuntimeSlots* slots = nullptr);

  // The tenant's number of the action; kNone: nothing fits.
  int find(const Facts& facts) const { return nodes_.empty() ? kNone : findIn(0, facts); }

 private:
  class Predicate {
   public:
    static Result<Predicate> build(const plan::MatchPredicate& plan, RuntimeSlots* slots);
    bool holds(const Facts& facts) const;

   private:
    bool holdsOfHash(const Facts& facts) const;

    plan::MatchPredicate::Kind kind_ = plan::MatchPredicate::Kind::Text;
    std::vector<Predicate> parts_;
    plan::MatchInput input_;
    std::optional<StringMatcher> text_;
    std::vector<plan::CidrRange> ranges_;
    std::optional<MetadataCondition> metadata_;
    uint64_t seed_ = 0;
    uint32_t threshold_ = 0;
    uint32_t modulo_ = 0;
    RuntimeNumber share_millionths_;
  };
  // Goes on with a later node, or ends.
  struct Outcome {
    int node = kNone;
    int action = kNone;
  };
  struct Edge {
    std::optional<Predicate> predicate;
    Outcome outcome;
    bool is_exclusive = false;
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view key) const { return std::hash<std::string_view>()(key); }
  };
  struct Node {
    plan::MatchNode::Kind kind = plan::MatchNode::Kind::List;
    plan::MatchInput input;
    std::vector<Edge> edges;
    // The edges of a value, in their order; none for a LIST.
    std::unordered_map<std::string, std::vector<uint32_t>, Hash, std::equal_to<>> by_value;
    // Of prefixes in bytes, of ranges in bits (of IPv4, and of IPv6); longest first, each once.
    std::vector<size_t> lengths[2];
    Outcome otherwise;
  };

  Result<void> addNode(const plan::MatchNode& plan, size_t index, size_t count,
                       RuntimeSlots* slots);
  static Result<Outcome> outcomeOf(const plan::MatchOutcome& plan, size_t index, size_t count);

  int findIn(size_t index, const Facts& facts) const;
  int findByValue(const Node& node, const Facts& facts) const;
  int findByPrefix(const Node& node, std::string_view text, const Facts& facts) const;
  int findByDomain(const Node& node, std::string_view name, const Facts& facts) const;
  int findByRange(const Node& node, std::string_view ip, const Facts& facts) const;
  int follow(const Outcome& outcome, const Facts& facts) const;
  int followAll(const Node& node, std::string_view value, bool is_first, const Facts& facts) const;

  std::vector<Node> nodes_;
};

// Whether an address, 4 or 16 bytes, is within the range.
bool isWithin(std::string_view ip, const plan::CidrRange& range);

}  // namespace fairlead::match
