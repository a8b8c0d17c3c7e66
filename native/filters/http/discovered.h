// An HTTP filter whose configuration comes while the server runs (ECDS): in its place of the chain
// another filter stands, which may be replaced for requests that begin later. While there is none
// yet, requests are answered so.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "filters/http/http_filter.h"
#include "plan/plan.gen.h"

namespace fairlead::filters {

class DiscoveredConfig final : public HttpFilterConfig {
 public:
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

// The filters of a data plane that are discovered, by their numbers. The control thread's.
class DiscoveredFilters {
 public:
  void add(const std::shared_ptr<DiscoveredConfig>& filter) {
    std::erase_if(filters_, [](const auto& known) { return known.second.expired(); });
    filters_[filter->id()] = filter;
  }
  // Null: there is none of this number, or not any more.
  std::shared_ptr<DiscoveredConfig> find(uint64_t id) const {
    const auto found = filters_.find(id);
    return found == filters_.end() ? nullptr : found->second.lock();
  }

 private:
  // Their filter chains hold them.
  std::map<uint64_t, std::weak_ptr<DiscoveredConfig>> filters_;
};

}  // namespace fairlead::filters
