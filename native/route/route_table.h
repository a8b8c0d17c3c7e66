// A compiled route configuration: which virtual host and which route take a request. Immutable;
// shared by all workers.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "plan/plan.gen.h"
#include "route/action.h"
#include "route/path_index.h"

namespace fairlead::route {

struct VirtualHost {
  plan::VirtualHost plan;  // Without its routes.
  HeaderMutations mutations;
  std::vector<Route> routes;
  std::unique_ptr<PathIndex> index;
};

class RouteTable {
 public:
  static Result<std::shared_ptr<const RouteTable>> build(const plan::RouteTable& plan);

  // The virtual host of an authority, as the real server searches: exact, then the longest suffix
  // ("*.a.b"), then the longest prefix ("a.*"), then "*". Null: none.
  const VirtualHost* findHost(std::string_view authority) const;

  const std::string& name() const { return name_; }
  // Clusters that routes name; Target::slot is a place in this list.
  const std::vector<std::string>& clusterNames() const { return cluster_names_; }
  const HeaderMutations& mutations() const { return mutations_; }
  bool mostSpecificWins() const { return most_specific_wins_; }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  using Names = std::unordered_map<std::string, const VirtualHost*, Hash, std::equal_to<>>;

  void index(const std::string& domain, const VirtualHost* host);

  std::string name_;
  std::vector<std::unique_ptr<VirtualHost>> hosts_;
  std::vector<std::string> cluster_names_;
  HeaderMutations mutations_;
  bool ignore_port_ = false;
  bool most_specific_wins_ = false;
  Names exact_;
  // What follows, or goes before, the asterisk; and the lengths that occur, longest first.
  Names suffixes_;
  Names prefixes_;
  std::vector<size_t> suffix_lengths_;
  std::vector<size_t> prefix_lengths_;
  const VirtualHost* any_ = nullptr;
};

}  // namespace fairlead::route
