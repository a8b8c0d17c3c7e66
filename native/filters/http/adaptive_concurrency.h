// envoy.filters.http.adaptive_concurrency: turns requests away where more are under way than a
// gradient controller lets.
#pragma once

#include <memory>

#include "base/runtime_slots.h"
#include "filters/http/gradient_controller.h"
#include "filters/http/http_filter.h"
#include "plan/plan.gen.h"

namespace fairlead::filters {

class AdaptiveConcurrencyConfig final : public HttpFilterConfig {
 public:
  static BuiltFilter build(const plan::AdaptiveConcurrency& plan, const ConfigScope& scope);

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

  GradientController& controller() const { return *controller_; }
  // Of what is turned away.
  uint16_t status() const { return status_; }

 private:
  std::shared_ptr<GradientController> controller_;
  RuntimeNumber enabled_;
  uint16_t status_ = 503;
};

}  // namespace fairlead::filters
