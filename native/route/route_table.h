// A compiled route configuration: which virtual host and which route take a request. Immutable;
// shared by all workers.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/plan.gen.h"
#include "route/domain_index.h"
#include "route/path_index.h"
#include "route/route.h"

namespace fairlead::route {

struct VirtualHost {
  // Without its routes, domains and mutations.
  plan::VirtualHost plan;
  HeaderMutations mutations;
  RetryRuntime retry_runtime;
  std::vector<Route> routes;
  std::unique_ptr<PathIndex> index;
};

struct RouteMatchResult {
  // Null: no domain fits the request's.
  const VirtualHost* virtual_host = nullptr;
  // Null: none of its routes fits.
  const Route* route = nullptr;
};

class RouteTable {
 public:
  // `clusters`: the numbers of their names. `slots`: where its numbers follow runtime values; null:
  // they stay. Both must live longer. `build_filter`: null: no route may configure a filter.
  static Result<std::shared_ptr<const RouteTable>> build(
      const plan::RouteTable& plan, NameIds& clusters, RuntimeSlots* slots = nullptr,
      const BuildFilterConfig& build_filter = nullptr);

  // The virtual host of an authority; see DomainIndex. Null: none.
  const VirtualHost* findHost(std::string_view authority) const;
  RouteMatchResult match(const RequestView& request) const;

 private:
  Result<std::unique_ptr<VirtualHost>> buildHost(const plan::VirtualHost& plan, NameIds& clusters,
                                                 RuntimeSlots* slots) const;
  void chain(VirtualHost& host) const;

  // Routes name them.
  FilterConfigs filter_configs_;
  std::vector<std::unique_ptr<VirtualHost>> hosts_;
  HeaderMutations mutations_;
  DomainIndex domains_;
  bool ignore_port_ = false;
  bool most_specific_wins_ = false;
};

}  // namespace fairlead::route
