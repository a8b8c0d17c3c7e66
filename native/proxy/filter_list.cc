#include "proxy/filter_list.h"

#include <utility>

#include "filters/http/http_filters.h"

namespace fairlead::proxy {

Result<FilterList> FilterList::build(std::span<const plan::HttpFilter> plans,
                                     const filters::ConfigScope& scope) {
  if (plans.size() >= 64) return Error{"at most 63 HTTP filters may follow each other"};
  FilterList list;
  for (const plan::HttpFilter& plan : plans) {
    auto built = filters::buildHttpFilter(plan, scope);
    if (!built) return built.error();
    if (!plan.disabled) list.on_ |= uint64_t{1} << list.filters_.size();
    list.filters_.push_back(std::move(built.value()));
    list.names_.push_back(plan.name);
  }
  return list;
}

}  // namespace fairlead::proxy
