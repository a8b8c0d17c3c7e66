// Makes of a listener's plan what workers share of it. Every refusal happens here. The control
// thread's.
#pragma once

#include <memory>
#include <vector>

#include "access_log/service_logs.h"
#include "base/name_ids.h"
#include "base/result.h"
#include "base/runtime_slots.h"
#include "filters/http/demands.h"
#include "filters/http/discovered.h"
#include "filters/http/faults.h"
#include "filters/http/late_counts.h"
#include "filters/http/live_value.h"
#include "filters/http/published.h"
#include "filters/http/tap.h"
#include "filters/listener/listener_filters.h"
#include "filters/network/connection_guard.h"
#include "filters/network/gates.h"
#include "log_files/log_files.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"
#include "worker/drain.h"
#include "worker/listener_plan.h"
#include "worker/route_tables.h"
#include "worker/tls_sockets.h"

namespace fairlead::worker {

using AccessLogs = std::vector<std::shared_ptr<access_log::AccessLog>>;

// What listeners are made with; all of it outlives them.
struct ListenerParts {
  stats::Registry& registry;
  unsigned workers;
  RuntimeSlots& slots;
  log_files::LogFiles& logs;
  access_log::ServiceLogs& service_logs;
  // The numbers of their names.
  NameIds& clusters;
  RouteTables& route_tables;
  Drain& drain;
  filters::Taps& taps;
  filters::Faults& faults;
  filters::LateCountsOfAll& late_counts;
  filters::Publishers& publishers;
  filters::DiscoveredFilters& discovered;
  filters::DiscoveredListenerFilters& discovered_listener_filters;
  filters::Demands& demands;
  filters::JwtKeyStores& jwt_keys;
  caches::CacheStores& caches;
  filters::LiveValues& live;
  filters::Gates& gates;
  std::shared_ptr<const filters::WorkerCalls> worker_calls;
  std::shared_ptr<net::AllConnections> all_connections;
  TlsSockets& tls_sockets;
  tracing::Spans& spans;
  // Beneath connections in the clear.
  net::SharedTransport transport;
  // Passed last in every HTTP connection manager; null: none.
  std::shared_ptr<const filters::HttpFilterConfig> last_filter;
  const upstream::NameCaches& names;
};

class ListenerBuilder {
 public:
  explicit ListenerBuilder(ListenerParts parts) : parts_(std::move(parts)) {}

  // Without filter chains, and bound to nothing yet.
  Result<std::shared_ptr<ListenerPlan>> build(const plan::Listener& plan) const;
  // `tree`: which of them takes a connection; null: what they say. `before`: what the listener has:
  // its chains that are among `chains` stay as they are.
  Result<std::shared_ptr<const FilterChainsPlan>> buildChains(
      const plan::Listener& listener, const std::vector<plan::FilterChain>& chains,
      const plan::ChainTree* tree, const FilterChainsPlan* before) const;
  // In the place of `before`, with other filters. Connections of both drain together.
  Result<std::shared_ptr<const FilterChainPlan>> changeChain(const plan::Listener& listener,
                                                             const plan::FilterChain& chain,
                                                             const FilterChainPlan& before) const;
  Result<AccessLogs> buildLogs(const std::vector<plan::AccessLog>& plans) const;
  filters::ListenerFilterParts filterParts() const {
    return {parts_.registry, parts_.slots, parts_.workers, parts_.discovered_listener_filters};
  }

 private:
  using SharedDrain = std::shared_ptr<const net::DrainDecision>;

  Result<std::shared_ptr<const FilterChainPlan>> buildChain(
      const plan::Listener& listener, const plan::FilterChain& chain,
      net::SharedTransport transport, std::shared_ptr<net::DrainDecision> drain) const;
  Result<net::SharedTransport> makeTransport(const plan::Listener& listener,
                                             const plan::FilterChain& chain) const;
  // In the place of filters that are not there: connections close at once.
  MissingPlan missingOf(const plan::Listener& listener) const;
  Result<FilterPlan> buildFilter(const plan::Listener& listener, const plan::FilterChain& chain,
                                 net::SharedTransport transport, SharedDrain drain) const;
  Result<FilterPlan> buildHttp(const plan::Listener& listener, const plan::FilterChain& chain,
                               net::SharedTransport transport, SharedDrain drain) const;
  Result<void> buildUpstreamFilters(const plan::HttpConnectionManager& plan,
                                    const filters::ConfigScope& scope,
                                    proxy::HttpConfig* config) const;
  Result<void> buildRequestParts(const plan::HttpConnectionManager& plan,
                                 proxy::HttpConfig* config) const;
  Result<FilterPlan> buildTcp(const plan::Listener& listener, const plan::FilterChain& chain,
                              net::SharedTransport transport, SharedDrain drain) const;

  const ListenerParts parts_;
};

}  // namespace fairlead::worker
