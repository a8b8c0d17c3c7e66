#include "route/filter_settings.h"

namespace fairlead::route {

Result<FilterSettings> FilterSettings::build(const std::vector<plan::RouteFilter>& plan,
                                             const FilterConfigs& configs) {
  FilterSettings settings;
  for (const plan::RouteFilter& filter : plan) {
    if (filter.filter >= 64) return Error{"a filter's place in its chain is below 64"};
    const uint64_t bit = uint64_t{1} << filter.filter;
    if (filter.disabled) (*filter.disabled ? settings.off_ : settings.on_) |= bit;
    if (filter.configs.empty()) continue;
    Of of{filter.filter, {}};
    for (const uint32_t config : filter.configs) {
      if (config >= configs.size()) return Error{"the table has no such filter config"};
      of.configs.push_back(configs[config].get());
    }
    settings.configs_.push_back(std::move(of));
  }
  return settings;
}

}  // namespace fairlead::route
