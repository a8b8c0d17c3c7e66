#include "filters/listener/listener_filters.h"

#include "filters/listener/http_inspector.h"
#include "filters/listener/original_dst.h"
#include "filters/listener/original_src.h"
#include "filters/listener/proxy_protocol.h"
#include "filters/listener/tls_inspector.h"
#include "filters/network/connection_state.h"

namespace fairlead::filters {

namespace {

using Config = std::shared_ptr<const net::ListenerFilterConfig>;

Config buildConfig(const plan::ListenerFilter& plan, stats::Registry& registry) {
  if (plan.http_inspector) return std::make_shared<HttpInspectorConfig>(registry);
  if (plan.proxy_protocol) {
    return std::make_shared<ProxyProtocolConfig>(*plan.proxy_protocol, registry);
  }
  if (plan.tls_inspector)
    return std::make_shared<TlsInspectorConfig>(*plan.tls_inspector, registry);
  if (plan.original_dst) return std::make_shared<OriginalDstConfig>();
  if (plan.set_filter_state) return std::make_shared<AcceptStateConfig>(*plan.set_filter_state);
  if (plan.original_src) return std::make_shared<OriginalSrcConfig>(*plan.original_src);
  return nullptr;
}

}  // namespace

Result<net::ListenerFilters> buildListenerFilters(const std::vector<plan::ListenerFilter>& plans,
                                                  stats::Registry& registry) {
  net::ListenerFilters filters;
  for (const plan::ListenerFilter& plan : plans) {
    net::ListenerFilterEntry entry{buildConfig(plan, registry), nullptr};
    if (!entry.config) return Error{"a listener filter of a kind that is not known here"};
    if (plan.disabled) {
      entry.disabled = std::make_shared<const net::ListenerPredicate>(*plan.disabled);
    }
    filters.push_back(std::move(entry));
  }
  return filters;
}

}  // namespace fairlead::filters
