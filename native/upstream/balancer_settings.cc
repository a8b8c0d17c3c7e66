#include "upstream/balancer_settings.h"

namespace fairlead::upstream {

BalancerSettings BalancerSettings::of(const plan::Cluster& plan, RuntimeSlots* slots) {
  BalancerSettings settings;
  settings.kind = plan.balancer;
  settings.choices = plan.least_request_choices;
  settings.full_scan = plan.least_request_full_scan;
  if (plan.request_bias_millionths > 0 || plan.request_bias_slot > 0) {
    settings.request_bias_millionths = {plan.request_bias_millionths, plan.request_bias_slot,
                                        slots};
  }
  settings.fails_in_panic = plan.fails_in_panic;
  settings.weighs_localities = plan.weighs_localities;
  settings.goes_by_load = plan.locality_loads.has_value();
  if (plan.zones && !plan.is_local) settings.zones.emplace(*plan.zones, slots);
  if (plan.slow_start && plan.slow_start->window_ms > 0) {
    const plan::SlowStart& slow = *plan.slow_start;
    settings.slow_start = {slow.window_ms,
                           {slow.aggression_millionths, slow.aggression_slot, slots},
                           slow.min_share_millionths / 1e6};
  }
  return settings;
}

}  // namespace fairlead::upstream
