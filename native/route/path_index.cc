#include "route/path_index.h"

namespace fairlead::route {

using PathKind = plan::RouteMatch::PathKind;

PathIndex::PathIndex(const std::vector<Route>& routes) : routes_(routes) {
  std::vector<PathTrie::Entry> sensitive;
  std::vector<PathTrie::Entry> insensitive;
  for (uint32_t i = 0; i < routes.size(); ++i) {
    const Match& match = routes[i].match;
    if (match.pathKind() == PathKind::Regex || match.pathKind() == PathKind::Connect) {
      others_.push_back(i);
      continue;
    }
    (match.ignoresCase() ? insensitive : sensitive)
        .push_back({match.path(), {i, match.pathKind(), match.asksPathOnly()}});
  }
  sensitive_ = PathTrie(std::move(sensitive), PathTrie::Case::Sensitive);
  insensitive_ = PathTrie(std::move(insensitive), PathTrie::Case::Ignored);
}

const Route* PathIndex::find(const RequestView& request) const {
  const std::string_view path = request.pathOnly();
  uint32_t best = UINT32_MAX;
  const auto tryCandidate = [&](const PathTrie::Candidate& candidate, size_t size) {
    if (!candidate.fitsRest(path, size)) return;
    if (candidate.path_only || routes_[candidate.route].match.matchesRest(request)) {
      best = candidate.route;
    }
  };
  const auto bound = [&] { return best; };
  if (!request.path.empty()) {
    sensitive_.forEachPrefix(path, tryCandidate, bound);
    if (!insensitive_.empty()) insensitive_.forEachPrefix(path, tryCandidate, bound);
  }
  for (const uint32_t index : others_) {
    if (index >= best) break;
    if (routes_[index].match.matches(request, path)) best = index;
  }
  return best == UINT32_MAX ? nullptr : &routes_[best];
}

}  // namespace fairlead::route
