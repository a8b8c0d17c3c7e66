// An HTTP filter whose configuration comes while the server runs (ECDS): in its place of the chain
// another filter stands, which may be replaced for requests that begin later. While there is none
// yet, requests are answered so.
#pragma once

#include <memory>
#include <vector>

#include "filters/discovered_places.h"
#include "filters/http/http_filter.h"
#include "plan/plan.gen.h"

namespace fairlead::filters {

class DiscoveredConfig final : public HttpFilterConfig {
 public:
  // The same, where there is one of its number: then the plan says nothing new.
  static BuiltFilter build(const plan::DiscoveredFilter& plan, const ConfigScope& scope);

  // As one worker has it: whoever holds it counts without the others.
  using Current = std::shared_ptr<const std::shared_ptr<const HttpFilterConfig>>;

  DiscoveredConfig(uint64_t id, const ConfigScope& scope)
      : id_(id), scope_(scope), current_(scope.workers) {}

  uint64_t id() const { return id_; }
  // What is to be in its place; null: nothing. The control thread's.
  Result<std::shared_ptr<const HttpFilterConfig>> make(const plan::DiscoveredFilter& plan) const;
  // From here on; that worker's thread.
  void set(unsigned worker, const std::shared_ptr<const HttpFilterConfig>& filter) {
    current_[worker] =
        filter ? std::make_shared<const std::shared_ptr<const HttpFilterConfig>>(filter) : nullptr;
  }

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

 private:
  const uint64_t id_;
  const ConfigScope scope_;
  // Of each worker, which alone looks at it.
  std::vector<Current> current_;
};

// Those of a data plane.
class DiscoveredFilters : public DiscoveredPlaces<DiscoveredConfig> {};

}  // namespace fairlead::filters
