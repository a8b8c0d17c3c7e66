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

Result<std::unique_ptr<const TryFilterSettings>> TryFilterSettings::build(
    const std::vector<plan::TryFilterConfig>& plan, const FilterConfigs& configs) {
  auto settings = std::make_unique<TryFilterSettings>();
  for (const plan::TryFilterConfig& filter : plan) {
    Of of{filter.name, filter.disabled, {}};
    for (const uint32_t config : filter.configs) {
      if (config >= configs.size()) return Error{"the table has no such filter config"};
      of.configs.push_back(configs[config].get());
    }
    settings->all_.push_back(std::move(of));
  }
  return std::unique_ptr<const TryFilterSettings>(std::move(settings));
}

uint64_t TryFilterSettings::apply(std::span<const std::string> names, uint64_t on) const {
  for (const Of& of : all_) {
    if (!of.disabled) continue;
    for (size_t i = 0; i < names.size(); ++i) {
      if (names[i] != of.name) continue;
      const uint64_t bit = uint64_t{1} << i;
      on = *of.disabled ? on & ~bit : on | bit;
    }
  }
  return on;
}

}  // namespace fairlead::route
