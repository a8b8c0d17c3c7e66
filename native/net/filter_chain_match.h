// Which filter chain takes a connection: by its addresses, and by what listener filters found out.
// Immutable; shared by all workers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "match/match_tree.h"
#include "net/address.h"
#include "plan/plan.gen.h"

namespace fairlead::net {

// What is known of a connection that asks for its chain.
struct ChainFacts {
  const Address& local;
  const Address& direct_remote;
  const Address& remote;
  // In lower case; empty: none is known.
  std::string_view server_name = {};
  std::string_view transport_protocol = "raw_buffer";
  // What the client offers, what it prefers first.
  std::span<const std::string> application_protocols = {};
};

// The order of criteria is the real server's: destination port, destination address, server name,
// transport protocol, application protocol, direct source, source type, source address, source
// port. At each step the most specific fit wins, and there is no way back: a chain that loses at a
// later step does not give an earlier loser another chance.
//
// The steps are the levels of a tree whose edges are in one hash table: a connection costs a few
// look-ups, however many chains there are, and nothing of the heap.
class FilterChainMatch {
 public:
  static constexpr int kNone = -1;

  FilterChainMatch() = default;
  explicit FilterChainMatch(const std::vector<plan::FilterChain>& chains);
  // By a tree, whatever the chains say themselves; null: by what they say. The error says what is
  // wrong with it.
  static Result<FilterChainMatch> build(const std::vector<plan::FilterChain>& chains,
                                        const plan::ChainTree* tree);

  // The index of the chain; kNone when there is none.
  int find(const ChainFacts& facts) const;

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view key) const { return std::hash<std::string_view>()(key); }
  };
  // A node's edges have its number and a criterion's value as their key.
  struct Node {
    // The child for whom nothing more specific fits; kNone: there is none.
    int any = kNone;
    // Of the ranges that edges have, longest first: of IPv4, and of IPv6.
    std::vector<uint8_t> prefix_lengths[2];
  };
  class Insertion;

  int child(int node, std::string_view value) const;
  int prefixChild(int node, const Address& address) const;
  int nameChild(int node, std::string_view name) const;
  int protocolChild(int node, std::span<const std::string> protocols) const;
  int sourceTypeChild(int node, const ChainFacts& facts) const;
  int findInTree(const ChainFacts& facts) const;
  int orAny(int child, int node) const {
    return child != kNone ? child : nodes_[static_cast<size_t>(node)].any;
  }

  std::vector<Node> nodes_;
  // A node; below the last step, a chain.
  std::unordered_map<std::string, int, Hash, std::equal_to<>> edges_;
  int default_chain_ = kNone;
  // Absent: the criteria of chains count.
  std::optional<match::MatchTree> tree_;
  // The chains that its actions name; kNone: there is no such chain.
  std::vector<int> chains_of_tree_;
  // Takes everything: it is the only one, without criteria.
  int only_chain_ = kNone;
};

}  // namespace fairlead::net
