#include "filters/http/ext_proc.h"

#include <utility>

#include "filters/http/ext_proc_filter.h"

namespace fairlead::filters {

BuiltFilter ExtProcConfig::build(const std::string& name, const plan::ExtProc& plan,
                                 const ConfigScope& scope) {
  auto config = std::make_shared<ExtProcConfig>();
  Result<std::unique_ptr<const ExtProcSettings>> settings =
      ExtProcSettings::build(name, plan, scope.registry, scope.stats, scope.clusters);
  if (!settings) return settings.error();
  config->settings_ = std::move(settings.value());
  return std::shared_ptr<const HttpFilterConfig>(std::move(config));
}

HttpFilter* ExtProcConfig::make(FilterMemory& memory, const FilterScope& scope,
                                FilterPlace& place) const {
  for (const route::FilterConfig* config : place.routeConfigs()) {
    const ExtProcRoute* const route = ExtProcRoute::of(config);
    if (!route) continue;
    // The most specific one's.
    if (route->plan.disabled) {
      // Logs find that it is there.
      figuresOf(settings_->name, scope.notes);
      return nullptr;
    }
    break;
  }
  return memory.make<ExtProc>(*settings_, scope, place);
}

}  // namespace fairlead::filters
