#include "route/path_index.h"

#include <algorithm>
#include <bit>

namespace fairlead::route {

namespace {
using PathKind = plan::RouteMatch::PathKind;
constexpr uint64_t kSeed = 0x51ed270b35a5ad21;
// Candidates that fit on the stack.
constexpr size_t kInlineCandidates = 64;
}  // namespace

bool PathIndex::isIndexable(const Route& route) {
  const Match& match = route.match;
  if (match.ignoresCase() || match.path().find('?') != std::string::npos) return false;
  return match.pathKind() == PathKind::Prefix || match.pathKind() == PathKind::Exact ||
         match.pathKind() == PathKind::SeparatedPrefix;
}

PathIndex::PathIndex(const std::vector<Route>& routes) : routes_(routes) {
  if (routes.size() < kWorthIndexing) return;
  buckets_.resize(std::bit_ceil(routes.size() * 2));
  for (uint32_t i = 0; i < routes.size(); ++i) {
    if (!isIndexable(routes[i])) {
      others_.push_back(i);
      continue;
    }
    const std::string& path = routes[i].match.path();
    uint64_t hash = kSeed;
    for (const char c : path) hash = mix(hash, c);
    if (lengths_.size() <= path.size()) lengths_.resize(path.size() + 1);
    lengths_[path.size()] = true;
    size_t place = hash & (buckets_.size() - 1);
    while (!buckets_[place].routes.empty() && buckets_[place].hash != hash) {
      place = (place + 1) & (buckets_.size() - 1);
    }
    buckets_[place].hash = hash;
    buckets_[place].routes.push_back(i);
  }
}

const PathIndex::Bucket* PathIndex::bucketOf(uint64_t hash) const {
  size_t place = hash & (buckets_.size() - 1);
  while (!buckets_[place].routes.empty()) {
    if (buckets_[place].hash == hash) return &buckets_[place];
    place = (place + 1) & (buckets_.size() - 1);
  }
  return nullptr;
}

const Route* PathIndex::find(const RequestView& request) const {
  const std::string_view path = request.pathOnly();
  if (!buckets_.empty()) return findIndexed(request, path);
  for (const Route& route : routes_) {
    if (route.match.matches(request, path)) return &route;
  }
  return nullptr;
}

const Route* PathIndex::findIndexed(const RequestView& request, std::string_view path) const {
  // Every bucket on the way is a candidate; the earliest route of all that fits wins.
  const Bucket* found[kInlineCandidates];
  size_t count = 0;
  uint64_t hash = kSeed;
  uint32_t best = UINT32_MAX;
  const auto tryAll = [&](const std::vector<uint32_t>& candidates) {
    for (const uint32_t index : candidates) {
      if (index >= best) return;
      if (routes_[index].match.matches(request, path)) {
        best = index;
        return;
      }
    }
  };
  const size_t longest = std::min(path.size(), lengths_.empty() ? 0 : lengths_.size() - 1);
  for (size_t length = 0; !lengths_.empty(); ++length) {
    if (lengths_[length]) {
      if (const Bucket* bucket = bucketOf(hash)) {
        if (count == kInlineCandidates) {
          tryAll(bucket->routes);
        } else {
          found[count++] = bucket;
        }
      }
    }
    if (length == longest) break;
    hash = mix(hash, path[length]);
  }
  // Longer paths are usually named first, and then end the search soonest.
  while (count > 0) tryAll(found[--count]->routes);
  tryAll(others_);
  return best == UINT32_MAX ? nullptr : &routes_[best];
}

}  // namespace fairlead::route
