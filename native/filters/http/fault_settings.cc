#include "filters/http/fault_settings.h"

#include <algorithm>

namespace fairlead::filters {

FaultSettings::Share::Share(const Boxed<plan::FaultShare>& plan, RuntimeSlots& slots) {
  if (!plan) return;
  numerator = plan->numerator;
  unit_millionths = plan->unit_millionths;
  override = RuntimeOverride(plan->override, slots);
}

Result<std::unique_ptr<const route::FilterConfig>> FaultSettings::build(
    const plan::FaultSettings& plan, RuntimeSlots& slots) {
  auto settings = std::make_unique<FaultSettings>();
  for (const plan::HeaderMatch& header : plan.headers) {
    Result<route::HeaderMatch> match = route::HeaderMatch::build(header);
    if (!match) return match.error();
    settings->headers_.push_back(std::move(match.value()));
  }
  if (plan.delay) {
    settings->delay_share = Share(plan.delay->share, slots);
    settings->delay_ms = RuntimeOverride(plan.delay->override_ms, slots);
  }
  if (plan.abort) {
    settings->abort_share = Share(plan.abort->share, slots);
    settings->http_status = RuntimeOverride(plan.abort->override_http_status, slots);
    settings->grpc_status = RuntimeOverride(plan.abort->override_grpc_status, slots);
  }
  if (plan.response_rate) settings->rate_share = Share(plan.response_rate->share, slots);
  settings->max_active = RuntimeOverride(plan.override_max_active_faults, slots);
  settings->metadata = format::FilterMetadata(plan.metadata);
  settings->plan = plan;
  settings->plan.headers.clear();
  settings->plan.metadata.clear();
  return std::unique_ptr<const route::FilterConfig>(std::move(settings));
}

bool FaultSettings::fits(const route::RequestView& request, std::string_view cluster) const {
  if (!plan.upstream_cluster.empty() && plan.upstream_cluster != cluster) return false;
  if (!plan.downstream_nodes.empty()) {
    const http::HeaderEntry* node =
        request.headers->find(http::HeaderId::XEnvoyDownstreamServiceNode);
    if (!node ||
        std::ranges::find(plan.downstream_nodes, node->value()) == plan.downstream_nodes.end()) {
      return false;
    }
  }
  return std::ranges::all_of(
      headers_, [&](const route::HeaderMatch& header) { return header.matches(request); });
}

}  // namespace fairlead::filters
