// Finds the routes whose path may fit without trying them all. Exact paths and prefixes are kept in
// one table by the hash of their bytes; one pass over the request's path asks it at every length that
// some route has. Immutable after build.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "route/action.h"

namespace fairlead::route {

class PathIndex {
 public:
  // Lent: the routes must outlive the index.
  explicit PathIndex(const std::vector<Route>& routes);

  // The first route, in their order, that fits; null when none does.
  const Route* find(const RequestView& request) const;

 private:
  // Fewer routes than this are tried one after another.
  static constexpr size_t kWorthIndexing = 8;

  struct Bucket {
    uint64_t hash = 0;
    // Routes of that hash, in their order; empty: a free place.
    std::vector<uint32_t> routes;
  };

  static bool isIndexable(const Route& route);
  static uint64_t mix(uint64_t hash, char c) {
    return (hash ^ static_cast<uint8_t>(c)) * 0x9e3779b97f4a7c15 + (hash >> 29);
  }
  const Bucket* bucketOf(uint64_t hash) const;
  const Route* findIndexed(const RequestView& request, std::string_view path) const;

  const std::vector<Route>& routes_;
  std::vector<Bucket> buckets_;
  // Whether some route's path has this length.
  std::vector<bool> lengths_;
  // Routes that a hash cannot find.
  std::vector<uint32_t> others_;
};

}  // namespace fairlead::route
