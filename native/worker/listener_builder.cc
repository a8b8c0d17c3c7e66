#include "worker/listener_builder.h"

#include <algorithm>
#include <span>
#include <utility>

#include "filters/http/http_filters.h"
#include "filters/listener/listener_filters.h"
#include "filters/network/connection_guard.h"
#include "filters/network/connection_state.h"
#include "http/joined_headers.h"
#include "worker/stats_settings.h"

namespace fairlead::worker {

Result<std::shared_ptr<ListenerPlan>> ListenerBuilder::build(const plan::Listener& plan) const {
  auto result = std::make_shared<ListenerPlan>();
  result->id = plan.id;
  net::ListenerConfig& config = result->config;
  config.plan = plan;
  config.plan.filter_chains.clear();
  config.max_connections =
      RuntimeNumber(plan.max_connections, plan.max_connections_slot, &parts_.slots);
  config.all_connections = parts_.all_connections;
  if (plan.balances_exactly) config.balance = std::make_shared<net::WorkerBalance>(parts_.workers);
  auto filters = filters::buildListenerFilters(plan.listener_filters, filterParts());
  if (!filters) return filters.error();
  config.filters = std::move(filters.value());
  const stats::Scope scope = stats::listenerScope(plan.stat_name);
  const auto chosen = chooseStats(plan.stats_choice ? &*plan.stats_choice : nullptr, scope.prefix,
                                  &parts_.registry);
  if (!chosen) return chosen.error();
  config.stats = parts_.registry.create<stats::Listener>(scope);
  for (unsigned i = 0; i < parts_.workers; ++i) {
    config.worker_stats.push_back(parts_.registry.create<stats::ListenerWorker>(
        stats::listenerWorkerScope(plan.stat_name, i)));
  }
  Result<AccessLogs> logs = buildLogs(plan.access_logs);
  if (!logs) return logs.error();
  result->access_logs = std::move(logs.value());
  return result;
}

Result<std::shared_ptr<const FilterChainsPlan>> ListenerBuilder::buildChains(
    const plan::Listener& listener, const std::vector<plan::FilterChain>& chains,
    const plan::ChainTree* tree, const FilterChainsPlan* before) const {
  auto result = std::make_shared<FilterChainsPlan>();
  auto match = net::FilterChainMatch::build(chains, tree);
  if (!match) return match.error();
  result->chains.match = std::move(match.value());
  if (tree && tree->tree) {
    for (const std::string& prefix : tree->tree->ip_stat_prefixes) {
      result->matcher_stats.push_back(
          parts_.registry.create<stats::IpMatcher>(stats::plainScope(prefix + ".")));
    }
  }
  for (const plan::FilterChain& chain : chains) {
    result->chains.ids.push_back(chain.id);
    std::shared_ptr<const FilterChainPlan> known;
    for (const auto& one : before ? before->plans : decltype(before->plans)()) {
      if (chain.id != 0 && one->id == chain.id) known = one;
    }
    if (!known) {
      auto transport = makeTransport(listener, chain);
      if (!transport) return transport.error();
      auto built = buildChain(listener, chain, std::move(transport.value()),
                              std::make_shared<net::DrainDecision>());
      if (!built) return built.error();
      known = std::move(built.value());
    }
    result->plans.push_back(std::move(known));
  }
  return std::shared_ptr<const FilterChainsPlan>(std::move(result));
}

Result<std::shared_ptr<const FilterChainPlan>> ListenerBuilder::changeChain(
    const plan::Listener& listener, const plan::FilterChain& chain,
    const FilterChainPlan& before) const {
  return buildChain(listener, chain, before.transport, before.drain);
}

Result<std::shared_ptr<const FilterChainPlan>> ListenerBuilder::buildChain(
    const plan::Listener& listener, const plan::FilterChain& chain, net::SharedTransport transport,
    std::shared_ptr<net::DrainDecision> drain) const {
  const bool lacks_filter =
      std::any_of(chain.guards.begin(), chain.guards.end(),
                  [](const plan::ConnectionGuard& guard) { return guard.lacks_filter; });
  net::SharedTransport guarded = filters::keepStates(chain.states, transport);
  if (!chain.guards.empty() && !lacks_filter) {
    using filters::Guarded;
    const Guarded behind = chain.tcp               ? Guarded::Relay
                           : chain.direct_response ? Guarded::Deaf
                                                   : Guarded::Reader;
    auto made = filters::guardConnections(
        chain.guards, std::move(guarded), behind,
        {parts_.registry, parts_.slots, parts_.clusters, parts_.worker_calls});
    if (!made) return made.error();
    guarded = std::move(made.value());
  }
  Result<FilterPlan> filter = buildFilter(listener, chain, std::move(guarded), drain);
  if (!filter) return filter.error();
  if (lacks_filter) {
    MissingPlan missing = missingOf(listener);
    using Http = std::shared_ptr<const proxy::HttpConfig>;
    if (const Http* http = std::get_if<Http>(&filter.value())) missing.later = *http;
    filter = FilterPlan(std::move(missing));
  }
  auto gates = parts_.gates.build(chain.gates, parts_.registry, parts_.slots);
  if (!gates) return gates.error();
  return std::make_shared<const FilterChainPlan>(
      FilterChainPlan{chain.id, std::move(filter.value()), std::move(gates.value()),
                      std::move(drain), std::move(transport)});
}

// Null: bytes in the clear.
Result<net::SharedTransport> ListenerBuilder::makeTransport(const plan::Listener& listener,
                                                            const plan::FilterChain& chain) const {
  if (!chain.tls) return parts_.transport;
  const stats::Scope scope = stats::listenerScope(listener.stat_name);
  return parts_.tls_sockets.make(chain, scope, parts_.registry.create<stats::Listener>(scope));
}

MissingPlan ListenerBuilder::missingOf(const plan::Listener& listener) const {
  const stats::Scope scope = stats::listenerScope(listener.stat_name);
  return {parts_.registry.create<stats::Listener>(scope), nullptr};
}

Result<FilterPlan> ListenerBuilder::buildFilter(const plan::Listener& listener,
                                                const plan::FilterChain& chain,
                                                net::SharedTransport transport,
                                                SharedDrain drain) const {
  if (chain.http) return buildHttp(listener, chain, std::move(transport), std::move(drain));
  if (chain.tcp) return buildTcp(listener, chain, std::move(transport), std::move(drain));
  if (chain.direct_response) {
    return FilterPlan(
        DirectResponsePlan{chain.direct_response->body, std::move(transport), chain.name});
  }
  if (chain.echo) {
    return FilterPlan(
        EchoPlan{std::move(transport), listener.buffer_high_watermark_timeout_ms, chain.name});
  }
  // As the real server, to which nothing is there that should be.
  return FilterPlan(missingOf(listener));
}

Result<FilterPlan> ListenerBuilder::buildHttp(const plan::Listener& listener,
                                              const plan::FilterChain& chain,
                                              net::SharedTransport transport,
                                              SharedDrain drain) const {
  const plan::HttpConnectionManager& plan = *chain.http;
  stats::Registry& registry = parts_.registry;
  auto config =
      std::make_shared<proxy::HttpConfig>(plan, listener.per_connection_buffer_limit_bytes);
  config->slow_timeout_ms = listener.buffer_high_watermark_timeout_ms;
  if (const auto& resets = plan.premature_resets) {
    config->premature_resets = RuntimeNumber(resets->value, resets->slot, &parts_.slots);
  }
  if (const auto& seconds = plan.premature_reset_s) {
    config->premature_reset_s = RuntimeNumber(seconds->value, seconds->slot, &parts_.slots);
  }
  if (plan.tracing) {
    const bool is_egress = listener.direction == plan::Listener::Direction::Outbound;
    config->tracing = std::make_shared<const tracing::Tracing>(*plan.tracing, is_egress,
                                                               &parts_.slots, parts_.spans);
  }
  config->routes = parts_.route_tables.slotOf(plan.route_table);
  if (auto built = buildRequestParts(plan, config.get()); !built) return built.error();
  for (const plan::StringMatch& one : plan.ignored_upgrades) {
    auto matcher = match::StringMatcher::build(one);
    if (!matcher) return matcher.error();
    config->ignored_upgrades.push_back(std::move(matcher.value()));
  }
  if (!config->ignored_upgrades.empty()) {
    config->codec.ignored_upgrades = &config->ignored_upgrades;
  }
  if (plan.records_route_resolution) {
    config->route_stats =
        registry.create<stats::HttpRouteResolution>(stats::httpScope(plan.stat_prefix));
    format::wantExchange();
  }
  config->drain = std::move(drain);
  config->codec.bypasses_overload = listener.bypasses_overload;
  config->transport = std::move(transport);
  config->filter_chain_name = chain.name;
  config->listener_metadata = listener.metadata;
  config->chain_metadata = chain.metadata;
  config->stats = registry.create<stats::Http>(stats::httpScope(plan.stat_prefix));
  config->listener_stats = registry.create<stats::ListenerHttp>(
      stats::listenerHttpScope(listener.stat_name, plan.stat_prefix));
  config->codec_stats = registry.create<stats::Http1Codec>(stats::plainScope("http1."));
  config->http2_stats = registry.create<stats::Http2Codec>(stats::plainScope("http2."));
  Result<AccessLogs> logs = buildLogs(plan.access_logs);
  if (!logs) return logs.error();
  config->setAccessLogs(std::move(logs.value()));
  if (plan.router && !plan.router->upstream_logs.empty()) {
    Result<AccessLogs> upstream_logs = buildLogs(plan.router->upstream_logs);
    if (!upstream_logs) return upstream_logs.error();
    config->upstream_logs = std::move(upstream_logs.value());
    config->logs_request_head = true;
  }
  if (plan.local_replies) {
    auto replies = proxy::LocalReplies::build(*plan.local_replies, &parts_.slots);
    if (!replies) return replies.error();
    config->local_replies = std::move(replies.value());
    config->logs_request_head |= config->local_replies->readsRequestHead();
  }
  if (plan.http_filters.size() + plan.upgrade_filters.size() >= 64) {
    return Error{"a connection manager has at most 63 HTTP filters"};
  }
  const filters::ConfigScope scope = {registry,           stats::httpScope(plan.stat_prefix),
                                      parts_.workers,     parts_.slots,
                                      parts_.clusters,    parts_.drain.healthCheckFailed(),
                                      parts_.taps,        parts_.faults,
                                      parts_.late_counts, parts_.publishers,
                                      &parts_.names,      parts_.discovered,
                                      parts_.demands,     parts_.jwt_keys,
                                      &parts_.caches,     parts_.live};
  if (auto built = buildUpstreamFilters(plan, scope, config.get()); !built) return built.error();
  uint64_t on_always = 0;
  if (parts_.last_filter) {
    on_always = uint64_t{1} << (plan.http_filters.size() + plan.upgrade_filters.size());
  }
  config->filters_on = on_always;
  // The bits of those that come next.
  const auto add = [&](std::span<const plan::HttpFilter> some) -> Result<uint64_t> {
    uint64_t bits = 0;
    for (const plan::HttpFilter& filter : some) {
      auto built = filters::buildHttpFilter(filter, scope);
      if (!built) return built.error();
      const uint64_t bit = uint64_t{1} << config->filters.size();
      bits |= bit;
      if (!filter.disabled) config->filters_on |= bit;
      config->filters.push_back(std::move(built.value()));
      config->filter_names.push_back(filter.name);
    }
    return bits | on_always;
  };
  Result<uint64_t> usual = add(plan.http_filters);
  if (!usual) return usual.error();
  config->chain = usual.value();
  std::span<const plan::HttpFilter> left = plan.upgrade_filters;
  for (const plan::UpgradeConfig& upgrade : plan.upgrades) {
    uint64_t own = config->chain;
    if (upgrade.chain) {
      const size_t count = upgrade.chain->filters;
      if (count > left.size()) return Error{"an upgrade has more filters than there are"};
      Result<uint64_t> built = add(left.first(count));
      if (!built) return built.error();
      own = built.value();
      left = left.subspan(count);
    }
    config->upgrades.push_back({upgrade.name, upgrade.enabled, own});
  }
  if (parts_.last_filter) {
    config->filters.push_back(parts_.last_filter);
    config->filter_names.emplace_back();
  }
  return FilterPlan(std::shared_ptr<const proxy::HttpConfig>(std::move(config)));
}

// As the real server: between the manager's prefix and what their statistics are of is no dot.
Result<void> ListenerBuilder::buildUpstreamFilters(const plan::HttpConnectionManager& plan,
                                                   const filters::ConfigScope& scope,
                                                   proxy::HttpConfig* config) const {
  if (!plan.router || plan.router->upstream_filters.empty()) return {};
  filters::ConfigScope own = scope;
  own.stats.prefix.pop_back();
  auto built = proxy::FilterList::build(plan.router->upstream_filters, own);
  if (!built) return built.error();
  config->upstream_filters = std::move(built.value());
  return {};
}

// What is done to requests before they are routed.
Result<void> ListenerBuilder::buildRequestParts(const plan::HttpConnectionManager& plan,
                                                proxy::HttpConfig* config) const {
  auto early = route::HeaderChanges::build(plan.early_changes, http::isJoinedInRequests);
  if (!early) return early.error();
  config->early_changes = std::move(early.value());
  if (!plan.client_cert_tree) return {};
  auto tree = match::MatchTree::build(plan.client_cert_tree->tree.value_or(plan::MatchTree()),
                                      &parts_.slots);
  if (!tree) return tree.error();
  config->client_cert_tree = std::make_unique<const proxy::ClientCertTree>(
      proxy::ClientCertTree{std::move(tree.value()), plan.client_cert_tree->actions});
  return {};
}

Result<FilterPlan> ListenerBuilder::buildTcp(const plan::Listener& listener,
                                             const plan::FilterChain& chain,
                                             net::SharedTransport transport,
                                             SharedDrain drain) const {
  auto config = std::make_shared<tcp::TcpProxyConfig>();
  config->drain = std::move(drain);
  config->plan = *chain.tcp;
  for (const plan::WeightedTarget& target : config->plan.clusters) {
    config->targets.push_back(
        {parts_.clusters.hold(target.cluster),
         plan::SubsetCriteria(target.metadata_match.value_or(plan::MetadataMatch()))});
  }
  if (config->plan.tunneling) config->tunneling.emplace(*config->plan.tunneling);
  config->transport = std::move(transport);
  config->filter_chain_name = chain.name;
  config->listener_metadata = listener.metadata;
  config->chain_metadata = chain.metadata;
  config->cluster_of_server_name = chain.cluster_of_server_name;
  if (const auto& lookup = chain.server_name_lookup) {
    config->names = parts_.names.find(lookup->cache);
    config->names_port = lookup->port;
    if (!config->names) return Error{"there is no cache of names '" + lookup->cache + "'"};
  }
  config->buffer_limit_bytes = listener.per_connection_buffer_limit_bytes;
  config->slow_timeout_ms = listener.buffer_high_watermark_timeout_ms;
  config->bypasses_overload = listener.bypasses_overload;
  const stats::Scope scope = stats::tcpScope(chain.tcp->stat_prefix);
  config->stats = parts_.registry.create<stats::Tcp>(scope);
  if (config->tunneling) {
    config->tunneling_stats =
        parts_.registry.create<stats::AsyncClient>(stats::innerScope(scope, "tcpproxy_tunneling."));
  }
  if (chain.tcp->on_demand) {
    config->demand_stats = parts_.registry.create<stats::TcpOnDemand>(scope);
    config->waiters =
        std::make_unique<const filters::DemandWaiters>(parts_.workers, parts_.demands);
  }
  for (const plan::AddedTlv& tlv : chain.tcp->proxy_tlvs) {
    if (tlv.format) config->tlv_formats.emplace_back(*tlv.format);
  }
  Result<AccessLogs> logs = buildLogs(chain.tcp->access_logs);
  if (!logs) return logs.error();
  config->access_logs = std::move(logs.value());
  return FilterPlan(std::shared_ptr<const tcp::TcpProxyConfig>(std::move(config)));
}

Result<AccessLogs> ListenerBuilder::buildLogs(const std::vector<plan::AccessLog>& plans) const {
  AccessLogs logs;
  for (const plan::AccessLog& plan : plans) {
    auto log = access_log::AccessLog::build(
        plan, {parts_.logs, parts_.service_logs, parts_.registry, &parts_.slots});
    if (!log) return log.error();
    logs.push_back(std::move(log.value()));
  }
  return logs;
}

}  // namespace fairlead::worker
