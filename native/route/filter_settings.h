// What a route says of the filters before the router: which are on, and with what configuration.
// Immutable. What a configuration means is the filters' business; here it is only kept.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/plan.gen.h"

namespace fairlead::route {

// Of one filter, as a route, a virtual host, a table or a weighted cluster has it.
class FilterConfig {
 public:
  virtual ~FilterConfig() = default;
  // Whose it is: the same for all configs of a class, and for no other.
  virtual const void* kind() const = 0;
};

using FilterConfigs = std::vector<std::unique_ptr<const FilterConfig>>;
// Of their plan; given by the layer that knows the filters.
using BuildFilterConfig =
    std::function<Result<std::unique_ptr<const FilterConfig>>(const plan::FilterConfig&)>;

// The most specific first.
using FilterConfigList = std::span<const FilterConfig* const>;

class FilterSettings {
 public:
  // A chain has at most 64 filters: each has a bit.
  static Result<FilterSettings> build(const std::vector<plan::RouteFilter>& plan,
                                      const FilterConfigs& configs);

  // Of a chain in which the filters `on` are on where no route speaks.
  uint64_t apply(uint64_t on) const { return (on & ~off_) | on_; }
  // Of the filter at that place in its chain.
  FilterConfigList configsOf(uint32_t filter) const {
    for (const Of& of : configs_) {
      if (of.filter == filter) return of.configs;
    }
    return {};
  }

 private:
  struct Of {
    uint32_t filter;
    std::vector<const FilterConfig*> configs;
  };

  uint64_t off_ = 0;
  uint64_t on_ = 0;
  std::vector<Of> configs_;
};

// The same of filters that tries pass on their way to hosts: by what configurations call them, as
// it is not known before whose they are.
class TryFilterSettings {
 public:
  static Result<std::unique_ptr<const TryFilterSettings>> build(
      const std::vector<plan::TryFilterConfig>& plan, const FilterConfigs& configs);

  FilterConfigList configsOf(std::string_view name) const {
    for (const Of& of : all_) {
      if (of.name == name) return of.configs;
    }
    return {};
  }
  // Of a chain of filters of these names, of which `on` are on where no route speaks.
  uint64_t apply(std::span<const std::string> names, uint64_t on) const;

 private:
  struct Of {
    std::string name;
    std::optional<bool> disabled;
    std::vector<const FilterConfig*> configs;
  };

  std::vector<Of> all_;
};

}  // namespace fairlead::route
