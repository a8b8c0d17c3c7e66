// When a cluster's hosts are put out for what becomes of requests to them, as the plan and the
// runtime say now (config.cluster.v3.OutlierDetection). Immutable but for the runtime's numbers;
// any thread.
#pragma once

#include <optional>

#include "base/runtime_slots.h"
#include "plan/plan.gen.h"

namespace fairlead::upstream {

struct OutlierSettings {
  // `slots`: what follows runtime values; null: nothing does.
  OutlierSettings(const plan::OutlierDetection& plan, RuntimeSlots* slots)
      : interval_ms(number(plan.interval_ms, slots)),
        base_ejection_time_ms(number(plan.base_ejection_time_ms, slots)),
        max_ejection_time_ms(number(plan.max_ejection_time_ms, slots)),
        max_ejection_time_jitter_ms(number(plan.max_ejection_time_jitter_ms, slots)),
        max_ejection_percent(number(plan.max_ejection_percent, slots)),
        consecutive_5xx(number(plan.consecutive_5xx, slots)),
        enforcing_consecutive_5xx(number(plan.enforcing_consecutive_5xx, slots)),
        consecutive_gateway_failure(number(plan.consecutive_gateway_failure, slots)),
        enforcing_consecutive_gateway_failure(
            number(plan.enforcing_consecutive_gateway_failure, slots)),
        consecutive_local_origin_failure(number(plan.consecutive_local_origin_failure, slots)),
        enforcing_consecutive_local_origin_failure(
            number(plan.enforcing_consecutive_local_origin_failure, slots)),
        success_rate_minimum_hosts(number(plan.success_rate_minimum_hosts, slots)),
        success_rate_request_volume(number(plan.success_rate_request_volume, slots)),
        success_rate_stdev_factor(number(plan.success_rate_stdev_factor, slots)),
        enforcing_success_rate(number(plan.enforcing_success_rate, slots)),
        enforcing_local_origin_success_rate(
            number(plan.enforcing_local_origin_success_rate, slots)),
        failure_percentage_threshold(number(plan.failure_percentage_threshold, slots)),
        failure_percentage_minimum_hosts(number(plan.failure_percentage_minimum_hosts, slots)),
        failure_percentage_request_volume(number(plan.failure_percentage_request_volume, slots)),
        enforcing_failure_percentage(number(plan.enforcing_failure_percentage, slots)),
        enforcing_failure_percentage_local_origin(
            number(plan.enforcing_failure_percentage_local_origin, slots)),
        always_ejects_one(plan.always_ejects_one),
        splits_local_origin(plan.splits_local_origin),
        ends_with_health_check(plan.ends_with_health_check),
        detects_degraded(plan.detects_degraded) {}

  // How each is meant: plan::OutlierDetection.
  const RuntimeNumber interval_ms;
  const RuntimeNumber base_ejection_time_ms;
  const RuntimeNumber max_ejection_time_ms;
  const RuntimeNumber max_ejection_time_jitter_ms;
  const RuntimeNumber max_ejection_percent;
  const RuntimeNumber consecutive_5xx;
  const RuntimeNumber enforcing_consecutive_5xx;
  const RuntimeNumber consecutive_gateway_failure;
  const RuntimeNumber enforcing_consecutive_gateway_failure;
  const RuntimeNumber consecutive_local_origin_failure;
  const RuntimeNumber enforcing_consecutive_local_origin_failure;
  const RuntimeNumber success_rate_minimum_hosts;
  const RuntimeNumber success_rate_request_volume;
  const RuntimeNumber success_rate_stdev_factor;
  const RuntimeNumber enforcing_success_rate;
  const RuntimeNumber enforcing_local_origin_success_rate;
  const RuntimeNumber failure_percentage_threshold;
  const RuntimeNumber failure_percentage_minimum_hosts;
  const RuntimeNumber failure_percentage_request_volume;
  const RuntimeNumber enforcing_failure_percentage;
  const RuntimeNumber enforcing_failure_percentage_local_origin;
  const bool always_ejects_one;
  const bool splits_local_origin;
  const bool ends_with_health_check;
  const bool detects_degraded;

 private:
  static RuntimeNumber number(const Boxed<plan::LiveNumber>& plan, RuntimeSlots* slots) {
    return plan ? RuntimeNumber(plan->value, plan->slot, slots) : RuntimeNumber();
  }
};

}  // namespace fairlead::upstream
