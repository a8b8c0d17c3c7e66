// One route: what it takes, what it changes, and what becomes of the request. Immutable.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "format/reply_body.h"
#include "plan/plan.gen.h"
#include "route/action.h"
#include "route/filter_settings.h"
#include "route/match.h"
#include "route/redirect.h"
#include "route/request_group.h"
#include "tracing/tracing.h"

namespace fairlead::route {

// What it says of traces.
struct TraceSettings {
  std::optional<tracing::RouteTracing> tracing;
  Boxed<plan::Decorator> decorator;
  // What tags name of its metadata.
  Boxed<plan::TagMetadata> metadata;
};

struct Route {
  std::string name;
  Match match;
  HeaderMutations mutations;
  // The route's, virtual host's and table's mutations; a chosen Target has its own chain.
  MutationChain chain;
  // Exactly one is there, or none: the route does not forward.
  std::optional<ClusterAction> cluster;
  std::optional<Redirect> redirect;
  Boxed<plan::DirectResponse> direct_response;
  // Null: its body is as it is.
  std::unique_ptr<const format::ReplyBody> direct_body;
  // Its requests are counted there, too; null: they are not.
  GroupStats group;
  // Where it differs from the connection manager's filters; a chosen Target may have its own.
  FilterSettings filters;
  // The same of filters that tries pass; null: it says nothing of any.
  std::unique_ptr<const TryFilterSettings> try_filters;
  // Null: nothing.
  std::unique_ptr<const TraceSettings> trace;
  // For formats.
  Boxed<plan::Metadata> metadata;

  // All but what counts its requests.
  static Result<Route> build(const plan::Route& plan, NameIds& clusters, RuntimeSlots* slots,
                             const FilterConfigs& configs);
};

}  // namespace fairlead::route
