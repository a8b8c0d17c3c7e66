// envoy.filters.http.on_demand: a request whose virtual host, routes or cluster are not there waits
// until the control plane has been asked for them.
#pragma once

#include <memory>

#include "filters/http/demand_waiters.h"
#include "filters/http/http_filter.h"
#include "plan/plan.gen.h"

namespace fairlead::filters {

// Of a route, a virtual host, a table or a weighted cluster.
class OnDemandSettings final : public route::FilterConfig {
 public:
  explicit OnDemandSettings(const plan::OnDemandSettings& settings) : plan(settings) {}
  static const OnDemandSettings* of(const route::FilterConfig* config) {
    return config->kind() == &kKind ? static_cast<const OnDemandSettings*>(config) : nullptr;
  }
  const void* kind() const override { return &kKind; }

  const plan::OnDemandSettings plan;

 private:
  static constexpr char kKind = 0;
};

class OnDemandConfig final : public HttpFilterConfig {
 public:
  static BuiltFilter build(const plan::OnDemandFilter& plan, const ConfigScope& scope);

  OnDemandConfig(const plan::OnDemandFilter& plan, const ConfigScope& scope);

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

  const plan::OnDemandFilter& plan() const { return plan_; }
  const DemandWaiters& waiters() const { return waiters_; }

 private:
  const plan::OnDemandFilter plan_;
  const DemandWaiters waiters_;
};

}  // namespace fairlead::filters
