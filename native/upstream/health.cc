#include "upstream/health.h"

#include <string_view>

namespace fairlead::upstream {

namespace {

struct FlagName {
  HealthFlag flag;
  std::string_view name;
};
constexpr FlagName kFlagNames[] = {
    {HealthFlag::FailedActive, "/failed_active_hc"},
    {HealthFlag::FailedOutlier, "/failed_outlier_check"},
    {HealthFlag::FailedEds, "/failed_eds_health"},
    {HealthFlag::DegradedActive, "/degraded_active_hc"},
    {HealthFlag::DegradedEds, "/degraded_eds_health"},
    {HealthFlag::PendingRemoval, "/pending_dynamic_removal"},
    {HealthFlag::PendingActive, "/pending_active_hc"},
    {HealthFlag::ExcludedImmediately, "/excluded_via_immediate_hc_fail"},
    {HealthFlag::ActiveTimeout, "/active_hc_timeout"},
    {HealthFlag::DrainingEds, "/eds_status_draining"},
    {HealthFlag::DegradedOutlier, "/degraded_outlier_detection"},
};

}  // namespace

std::string healthText(HealthFlags flags) {
  std::string text;
  for (const FlagName& one : kFlagNames) {
    if (flags.has(one.flag)) text += one.name;
  }
  return text.empty() ? "healthy" : text;
}

}  // namespace fairlead::upstream
