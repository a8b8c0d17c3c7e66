// The paths of routes as a radix trie: one walk along a request's path meets every route whose path
// begins it. Immutable after build; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "plan/plan.gen.h"

namespace fairlead::route {

class PathTrie {
 public:
  enum class Case : uint8_t { Sensitive, Ignored };

  // A route at the end of its path; what deciding on it needs, so that most requests never touch
  // routes they do not take.
  struct Candidate {
    uint32_t route;
    plan::RouteMatch::PathKind kind;
    // Nothing but the path is asked.
    bool path_only;

    // Given that its path, of `size` bytes, begins the request's. A query or fragment ends a path.
    bool fitsRest(std::string_view target, size_t size) const {
      using Kind = plan::RouteMatch::PathKind;
      if (kind == Kind::Prefix || target.size() == size) return true;
      const char next = target[size];
      return next == '?' || next == '#' || (kind == Kind::SeparatedPrefix && next == '/');
    }
  };
  struct Entry {
    std::string path;
    Candidate candidate;
  };

  PathTrie() = default;
  // Entries of one path stay in their order. Paths have no query or fragment: a walk along a whole
  // target then never leaves its path.
  PathTrie(std::vector<Entry> entries, Case sensitivity);

  bool empty() const { return nodes_.empty(); }

  // Calls `visit(const Candidate&, size_t size)` for the candidates whose path, `size` bytes,
  // begins the text: longest paths first, then in their order; routes not below `bound()` are
  // passed over.
  template <typename Visit, typename Bound>
  void forEachPrefix(std::string_view text, Visit visit, Bound bound) const {
    for (uint32_t at = deepest(text); at != kNone; at = nodes_[at].up) {
      const Node& node = nodes_[at];
      if (node.lowest_route >= bound()) return;
      for (uint32_t i = 0; i < node.candidates; ++i) {
        const Candidate& candidate = candidates_[node.first_candidate + i];
        if (candidate.route >= bound()) break;
        visit(candidate, node.depth);
      }
    }
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;

  // Its label leads here from its parent. Children stand side by side, and so do their first bytes
  // in first_bytes_: a child is chosen without touching the others.
  struct Node {
    uint32_t label = 0;
    uint32_t label_size = 0;
    // Bytes from the root to the end of the label.
    uint32_t depth = 0;
    uint32_t first_child = 0;
    uint32_t children = 0;
    uint32_t first_candidate = 0;
    uint32_t candidates = 0;
    // The nearest node above that has candidates.
    uint32_t up = kNone;
    // Of its candidates and of those above.
    uint32_t lowest_route = kNone;
  };
  // Sorted entries that share the node's path so far.
  struct Range {
    size_t begin;
    size_t end;
  };

  // The deepest node with candidates whose path begins the text; kNone: none does.
  uint32_t deepest(std::string_view text) const;
  uint32_t childOf(const Node& node, char first) const;
  bool labelBegins(const Node& node, std::string_view text) const;
  void addCandidates(uint32_t at, const std::vector<Entry>& entries, Range* range);
  void addChildren(uint32_t at, const std::vector<Entry>& entries, Range range,
                   std::vector<Range>* ranges);

  Case case_ = Case::Sensitive;
  std::vector<Node> nodes_;
  std::string first_bytes_;
  std::string labels_;
  std::vector<Candidate> candidates_;
};

}  // namespace fairlead::route
