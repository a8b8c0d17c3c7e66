// HTTP filters in their order, as a configuration has them. Immutable; shared by all workers.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "filters/http/http_filter.h"
#include "plan/plan.gen.h"
#include "proxy/chain_owner.h"

namespace fairlead::proxy {

class FilterList {
 public:
  FilterList() = default;
  static Result<FilterList> build(std::span<const plan::HttpFilter> plans,
                                  const filters::ConfigScope& scope);

  bool empty() const { return filters_.empty(); }
  // Lives no longer than this.
  FilterSet set() const { return {filters_, names_, on_}; }

 private:
  std::vector<std::shared_ptr<const filters::HttpFilterConfig>> filters_;
  std::vector<std::string> names_;
  uint64_t on_ = 0;
};

}  // namespace fairlead::proxy
