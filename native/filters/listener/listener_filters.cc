#include "filters/listener/listener_filters.h"

#include "filters/listener/accept_limit.h"
#include "filters/listener/http_inspector.h"
#include "filters/listener/original_dst.h"
#include "filters/listener/original_src.h"
#include "filters/listener/proxy_protocol.h"
#include "filters/listener/tls_inspector.h"
#include "filters/network/connection_state.h"

namespace fairlead::filters {

namespace {

using Config = std::shared_ptr<const net::ListenerFilterConfig>;

const Error kUnknown{"a listener filter of a kind that is not known here, or without any tokens"};

// Null: there is no such kind, or it could never let anybody pass.
Config buildConfig(const plan::ListenerFilter& plan, const ListenerFilterParts& parts) {
  stats::Registry& registry = parts.registry;
  if (plan.http_inspector) return std::make_shared<HttpInspectorConfig>(registry);
  if (plan.proxy_protocol) {
    return std::make_shared<ProxyProtocolConfig>(*plan.proxy_protocol, registry);
  }
  if (plan.tls_inspector)
    return std::make_shared<TlsInspectorConfig>(*plan.tls_inspector, registry);
  if (plan.original_dst) return std::make_shared<OriginalDstConfig>();
  if (plan.set_filter_state) return std::make_shared<AcceptStateConfig>(*plan.set_filter_state);
  if (plan.original_src) return std::make_shared<OriginalSrcConfig>(*plan.original_src);
  if (const auto& limit = plan.local_rate_limit) {
    if (limit->tokens_per_fill == 0 || limit->fill_interval_us == 0) return nullptr;
    return std::make_shared<AcceptLimitConfig>(*limit, registry, parts.slots);
  }
  if (!plan.discovered) return nullptr;
  auto first = buildDiscovered(*plan.discovered, parts);
  if (!first) return nullptr;
  auto place =
      std::make_shared<DiscoveredListenerConfig>(plan.discovered->id, parts.workers, first.value());
  parts.discovered.add(place);
  return place;
}

}  // namespace

Result<DiscoveredListenerConfig::Inner> buildDiscovered(const plan::DiscoveredListenerFilter& plan,
                                                        const ListenerFilterParts& parts) {
  if (plan.filter.empty()) return DiscoveredListenerConfig::Inner();
  const plan::ListenerFilter& filter = plan.filter.front();
  // One within another is nobody's plan.
  DiscoveredListenerConfig::Inner inner = filter.discovered ? nullptr : buildConfig(filter, parts);
  if (!inner) return kUnknown;
  return inner;
}

Result<net::ListenerFilters> buildListenerFilters(const std::vector<plan::ListenerFilter>& plans,
                                                  const ListenerFilterParts& parts) {
  net::ListenerFilters filters;
  for (const plan::ListenerFilter& plan : plans) {
    net::ListenerFilterEntry entry{buildConfig(plan, parts), nullptr};
    if (!entry.config) return kUnknown;
    if (plan.disabled) {
      entry.disabled = std::make_shared<const net::ListenerPredicate>(*plan.disabled);
    }
    filters.push_back(std::move(entry));
  }
  return filters;
}

}  // namespace fairlead::filters
