// Finds the first of a virtual host's routes that takes a request, without trying them all: exact
// paths and prefixes by a walk through a trie, the rest (regular expressions, CONNECT) in turn.
// Immutable after build; any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "route/path_trie.h"
#include "route/route.h"

namespace fairlead::route {

class PathIndex {
 public:
  // Lent: the routes must outlive the index, where they are.
  PathIndex(const Route* routes, size_t count);
  explicit PathIndex(const std::vector<Route>& routes) : PathIndex(routes.data(), routes.size()) {}

  // The first route, in their order, that fits; null when none does.
  const Route* find(const RequestView& request) const;

 private:
  uint32_t findOther(const RequestView& request, uint32_t best) const;

  const Route* const routes_;
  PathTrie sensitive_;
  PathTrie insensitive_;
  // Routes that no trie can hold, in their order.
  std::vector<uint32_t> others_;
};

}  // namespace fairlead::route
