#include "route/path_index.h"

namespace fairlead::route {

using PathKind = plan::RouteMatch::PathKind;

PathIndex::PathIndex(const Route* routes, size_t count) : routes_(routes) {
  std::vector<PathTrie::Entry> sensitive;
  std::vector<PathTrie::Entry> insensitive;
  for (uint32_t i = 0; i < count; ++i) {
    const Match& match = routes[i].match;
    if (match.pathKind() == PathKind::Regex || match.pathKind() == PathKind::Connect) {
      others_.push_back(i);
      continue;
    }
    // No request's path has a query or fragment in it.
    if (match.path().find_first_of("?#") != std::string::npos) continue;
    (match.ignoresCase() ? insensitive : sensitive)
        .push_back({match.path(), {i, match.pathKind(), match.asksPathOnly()}});
  }
  sensitive_ = PathTrie(std::move(sensitive), PathTrie::Case::Sensitive);
  insensitive_ = PathTrie(std::move(insensitive), PathTrie::Case::Ignored);
}

const Route* PathIndex::find(const RequestView& request) const {
  uint32_t best = UINT32_MAX;
  const auto tryCandidate = [&](const PathTrie::Candidate& candidate, size_t size) {
    if (!candidate.fitsRest(request.path, size)) return;
    if (candidate.path_only || routes_[candidate.route].match.matchesRest(request)) {
      best = candidate.route;
    }
  };
  const auto bound = [&] { return best; };
  if (!request.path.empty()) {
    sensitive_.forEachPrefix(request.path, tryCandidate, bound);
    insensitive_.forEachPrefix(request.path, tryCandidate, bound);
  }
  if (!others_.empty() && others_[0] < best) best = findOther(request, best);
  return best == UINT32_MAX ? nullptr : &routes_[best];
}

// The first of the others that fits and comes before `best`; `best` when none does.
uint32_t PathIndex::findOther(const RequestView& request, uint32_t best) const {
  const std::string_view path = request.pathOnly();
  for (const uint32_t index : others_) {
    if (index >= best) break;
    if (routes_[index].match.matches(request, path)) return index;
  }
  return best;
}

}  // namespace fairlead::route
