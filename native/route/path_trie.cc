#include "route/path_trie.h"

#include <algorithm>

#include "base/text.h"
#include "route/same_bytes.h"

namespace fairlead::route {

namespace {

void lower(std::string* text) {
  for (char& c : *text) c = lowerAscii(c);
}

}  // namespace

PathTrie::PathTrie(std::vector<Entry> entries, Case sensitivity) : case_(sensitivity) {
  if (entries.empty()) return;
  if (case_ == Case::Ignored) {
    for (Entry& entry : entries) lower(&entry.path);
  }
  std::stable_sort(entries.begin(), entries.end(),
                   [](const Entry& a, const Entry& b) { return a.path < b.path; });
  nodes_.emplace_back();
  first_bytes_.push_back('\0');
  // Breadth first: the children of a node get their places together.
  std::vector<Range> ranges = {{0, entries.size()}};
  for (uint32_t at = 0; at < nodes_.size(); ++at) {
    Range range = ranges[at];
    addCandidates(at, entries, &range);
    addChildren(at, entries, range, &ranges);
  }
}

// Takes what ends at the node off the front of the range.
void PathTrie::addCandidates(uint32_t at, const std::vector<Entry>& entries, Range* range) {
  Node& node = nodes_[at];
  node.first_candidate = static_cast<uint32_t>(candidates_.size());
  for (; range->begin < range->end; ++range->begin) {
    const Entry& entry = entries[range->begin];
    if (entry.path.size() != node.depth) break;
    candidates_.push_back(entry.candidate);
    node.lowest_route = std::min(node.lowest_route, entry.candidate.route);
    ++node.candidates;
  }
}

void PathTrie::addChildren(uint32_t at, const std::vector<Entry>& entries, Range range,
                           std::vector<Range>* ranges) {
  const uint32_t depth = nodes_[at].depth;
  const uint32_t up = nodes_[at].candidates > 0 ? at : nodes_[at].up;
  const uint32_t lowest = nodes_[at].lowest_route;
  nodes_[at].first_child = static_cast<uint32_t>(nodes_.size());
  while (range.begin < range.end) {
    const std::string& first = entries[range.begin].path;
    size_t end = range.begin + 1;
    while (end < range.end && entries[end].path[depth] == first[depth]) ++end;
    // All of a sorted group share what its first and last share.
    const std::string& last = entries[end - 1].path;
    const auto [differs, _] =
        std::mismatch(first.begin() + depth, first.end(), last.begin() + depth, last.end());
    Node child;
    child.label = static_cast<uint32_t>(labels_.size());
    child.label_size = static_cast<uint32_t>(differs - first.begin()) - depth;
    child.depth = depth + child.label_size;
    child.up = up;
    child.lowest_route = lowest;
    labels_.append(first, depth, child.label_size);
    first_bytes_.push_back(first[depth]);
    nodes_.push_back(child);
    ++nodes_[at].children;
    ranges->push_back({range.begin, end});
    range.begin = end;
  }
}

uint32_t PathTrie::childOf(const Node& node, char first) const {
  const char* bytes = first_bytes_.data() + node.first_child;
  for (uint32_t i = 0; i < node.children; ++i) {
    if (bytes[i] == first) return node.first_child + i;
  }
  return kNone;
}

bool PathTrie::labelBegins(const Node& node, std::string_view text) const {
  if (text.size() < node.label_size) return false;
  const char* label = labels_.data() + node.label;
  if (case_ == Case::Sensitive) return sameBytes(label, text.data(), node.label_size);
  for (uint32_t i = 0; i < node.label_size; ++i) {
    if (lowerAscii(text[i]) != label[i]) return false;
  }
  return true;
}

uint32_t PathTrie::deepest(std::string_view text) const {
  if (nodes_.empty()) return kNone;
  uint32_t at = 0;
  uint32_t found = kNone;
  while (true) {
    const Node& node = nodes_[at];
    if (node.candidates > 0) found = at;
    if (node.depth == text.size()) return found;
    const char next = case_ == Case::Sensitive ? text[node.depth] : lowerAscii(text[node.depth]);
    const uint32_t child = childOf(node, next);
    if (child == kNone || !labelBegins(nodes_[child], text.substr(node.depth))) return found;
    at = child;
  }
}

}  // namespace fairlead::route
