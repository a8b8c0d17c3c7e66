#include "worker/listener_builder.h"

#include <utility>

#include "filters/http/http_filters.h"
#include "filters/listener/listener_filters.h"

namespace fairlead::worker {

Result<std::shared_ptr<const ListenerPlan>> ListenerBuilder::build(
    const plan::Listener& plan, const net::Address& address) const {
  auto config = std::make_shared<net::ListenerConfig>();
  config->plan = plan;
  config->address = address;
  config->max_connections =
      RuntimeNumber(plan.max_connections, plan.max_connections_slot, &parts_.slots);
  config->all_connections = parts_.all_connections;
  config->match = net::FilterChainMatch(plan.filter_chains);
  auto filters = filters::buildListenerFilters(plan.listener_filters, parts_.registry);
  if (!filters) return filters.error();
  config->filters = std::move(filters.value());
  config->stats = parts_.registry.create<stats::Listener>(stats::listenerScope(plan.stat_name));
  for (unsigned i = 0; i < parts_.workers; ++i) {
    config->worker_stats.push_back(parts_.registry.create<stats::ListenerWorker>(
        stats::listenerWorkerScope(plan.stat_name, i)));
  }
  auto result = std::make_shared<ListenerPlan>();
  result->drain = std::make_shared<net::DrainDecision>();
  for (const plan::FilterChain& chain : plan.filter_chains) {
    Result<FilterChainPlan> built = buildChain(plan, chain, result->drain);
    if (!built) return built.error();
    result->chains.push_back(std::move(built.value()));
  }
  Result<AccessLogs> logs = buildLogs(plan.access_logs);
  if (!logs) return logs.error();
  result->access_logs = std::move(logs.value());
  config->plan.filter_chains.clear();
  result->config = std::move(config);
  return std::shared_ptr<const ListenerPlan>(std::move(result));
}

Result<FilterChainPlan> ListenerBuilder::buildChain(
    const plan::Listener& listener, const plan::FilterChain& chain,
    std::shared_ptr<const net::DrainDecision> drain) const {
  if (chain.http) return buildHttp(listener, chain, std::move(drain));
  if (chain.tcp) return buildTcp(listener, chain);
  if (chain.direct_response) {
    return FilterChainPlan(DirectResponsePlan{chain.direct_response->body});
  }
  if (chain.echo) return FilterChainPlan(EchoPlan());
  return FilterChainPlan(EmptyPlan());
}

Result<FilterChainPlan> ListenerBuilder::buildHttp(
    const plan::Listener& listener, const plan::FilterChain& chain,
    std::shared_ptr<const net::DrainDecision> drain) const {
  const plan::HttpConnectionManager& plan = *chain.http;
  stats::Registry& registry = parts_.registry;
  auto config =
      std::make_shared<proxy::HttpConfig>(plan, listener.per_connection_buffer_limit_bytes);
  config->routes = parts_.route_tables.slotOf(plan.route_table);
  config->drain = std::move(drain);
  config->transport = parts_.transport;
  config->filter_chain_name = chain.name;
  config->stats = registry.create<stats::Http>(stats::httpScope(plan.stat_prefix));
  config->listener_stats = registry.create<stats::ListenerHttp>(
      stats::listenerHttpScope(listener.stat_name, plan.stat_prefix));
  config->codec_stats = registry.create<stats::Http1Codec>(stats::plainScope("http1."));
  Result<AccessLogs> logs = buildLogs(plan.access_logs);
  if (!logs) return logs.error();
  config->setAccessLogs(std::move(logs.value()));
  if (plan.http_filters.size() >= 64) return Error{"a chain has at most 63 HTTP filters"};
  const filters::ConfigScope scope = {
      registry,        stats::httpScope(plan.stat_prefix), parts_.workers, parts_.slots,
      parts_.clusters, parts_.drain.healthCheckFailed(),   parts_.taps,    parts_.faults};
  for (const plan::HttpFilter& filter : plan.http_filters) {
    auto built = filters::buildHttpFilter(filter, scope);
    if (!built) return built.error();
    if (!filter.disabled) config->filters_on |= uint64_t{1} << config->filters.size();
    config->filters.push_back(std::move(built.value()));
  }
  if (parts_.last_filter) {
    config->filters_on |= uint64_t{1} << config->filters.size();
    config->filters.push_back(parts_.last_filter);
  }
  return FilterChainPlan(std::shared_ptr<const proxy::HttpConfig>(std::move(config)));
}

Result<FilterChainPlan> ListenerBuilder::buildTcp(const plan::Listener& listener,
                                                  const plan::FilterChain& chain) const {
  auto config = std::make_shared<tcp::TcpProxyConfig>();
  config->plan = *chain.tcp;
  for (const plan::WeightedTarget& target : config->plan.clusters) {
    config->clusters.push_back(parts_.clusters.hold(target.cluster));
  }
  config->transport = parts_.transport;
  config->filter_chain_name = chain.name;
  config->buffer_limit_bytes = listener.per_connection_buffer_limit_bytes;
  config->stats = parts_.registry.create<stats::Tcp>(stats::tcpScope(chain.tcp->stat_prefix));
  Result<AccessLogs> logs = buildLogs(chain.tcp->access_logs);
  if (!logs) return logs.error();
  config->access_logs = std::move(logs.value());
  return FilterChainPlan(std::shared_ptr<const tcp::TcpProxyConfig>(std::move(config)));
}

Result<AccessLogs> ListenerBuilder::buildLogs(const std::vector<plan::AccessLog>& plans) const {
  AccessLogs logs;
  for (const plan::AccessLog& plan : plans) {
    auto log = access_log::AccessLog::build(plan, parts_.logs, &parts_.slots);
    if (!log) return log.error();
    logs.push_back(std::move(log.value()));
  }
  return logs;
}

}  // namespace fairlead::worker
