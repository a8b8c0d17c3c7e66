// A compiled route configuration: which virtual host and which route take a request. Immutable;
// shared by all workers.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "match/match_tree.h"
#include "plan/plan.gen.h"
#include "route/domain_index.h"
#include "route/path_index.h"
#include "route/route.h"
#include "route/route_scopes.h"

namespace fairlead::route {

// Routes that are tried one after the other.
struct RouteList {
  std::vector<Route> routes;
  std::unique_ptr<PathIndex> index;
};

// Which of its lists a request goes by.
struct RouteTree {
  match::MatchTree tree;
  std::vector<RouteList> lists;
};

struct VirtualHost {
  // Without its routes, domains and mutations.
  plan::VirtualHost plan;
  HeaderMutations mutations;
  RetryRuntime retry_runtime;
  RouteList routes;
  // In place of the routes; null: none.
  std::unique_ptr<const RouteTree> tree;
  // The first that has a request; the last has all others. Empty: none is counted apart.
  std::vector<RequestGroup> groups;

  // Null: there are none.
  const RequestGroup* groupOf(const RequestView& request) const {
    return groups.empty() ? nullptr : findGroup(request);
  }

 private:
  friend class RouteTable;
  const Route* find(const RequestView& request) const;
  const RequestGroup* findGroup(const RequestView& request) const;
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
  // `registry`: null: nothing is counted. `tables`: the numbers of route tables' names, for scopes;
  // null: there may be none.
  static Result<std::shared_ptr<const RouteTable>> build(
      const plan::RouteTable& plan, NameIds& clusters, RuntimeSlots* slots = nullptr,
      const BuildFilterConfig& build_filter = nullptr, stats::Registry* registry = nullptr,
      NameIds* tables = nullptr);

  // The virtual host of a request; see DomainIndex. Null: none.
  const VirtualHost* findHost(const RequestView& request) const {
    return host_header_.empty() ? findHost(request.authority) : findNamedHost(request);
  }
  const VirtualHost* findHost(std::string_view authority) const;
  // Its route; null: none fits.
  const Route* findRoute(const VirtualHost& host, const RequestView& request) const {
    return ignores_parameters_ ? findWithoutParameters(host, request) : host.find(request);
  }
  // Null: it has routes of its own. Otherwise only scopes.
  const RouteScopes* scopes() const { return scopes_.get(); }
  // Taken from requests that come from outside.
  const std::vector<HeaderName>& internalHeaders() const { return internal_headers_; }
  // Under which name virtual hosts may be asked for that are not here; empty: there are no others.
  const std::string& asksForHostsAs() const { return asks_for_hosts_as_; }
  RouteMatchResult match(const RequestView& request) const;

 private:
  // What its parts are built with.
  struct Parts {
    NameIds& clusters;
    RuntimeSlots* slots;
    stats::Registry* registry;
  };
  Result<std::unique_ptr<VirtualHost>> buildHost(const plan::VirtualHost& plan,
                                                 const Parts& parts) const;
  Result<RouteList> buildList(const std::vector<plan::Route>& plans, const VirtualHost& host,
                              const Parts& parts) const;
  static Result<void> buildGroups(const plan::VirtualHost& plan, const Parts& parts,
                                  VirtualHost* host);
  void chain(RouteList& list, const VirtualHost& host) const;
  const VirtualHost* findNamedHost(const RequestView& request) const;
  static const Route* findWithoutParameters(const VirtualHost& host, const RequestView& request);

  // Routes name them.
  FilterConfigs filter_configs_;
  std::vector<std::unique_ptr<VirtualHost>> hosts_;
  HeaderMutations mutations_;
  DomainIndex domains_;
  bool ignore_port_ = false;
  bool most_specific_wins_ = false;
  bool ignores_parameters_ = false;
  // Has the domain in place of the authority; empty: none does.
  HeaderName host_header_;
  std::vector<HeaderName> internal_headers_;
  std::string asks_for_hosts_as_;
  std::unique_ptr<const RouteScopes> scopes_;
};

}  // namespace fairlead::route
