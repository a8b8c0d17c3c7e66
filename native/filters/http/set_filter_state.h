// envoy.filters.http.set_filter_state: texts that are made of a request are kept with it, under
// names by which others ask for them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "filters/http/http_filter.h"
#include "format/format.h"
#include "plan/plan.gen.h"

namespace fairlead::filters {

// Of the filter, or of a route.
class FilterStateValues final : public route::FilterConfig {
 public:
  explicit FilterStateValues(const plan::SetFilterState& plan);
  static const FilterStateValues* of(const route::FilterConfig* config) {
    return config->kind() == &kKind ? static_cast<const FilterStateValues*>(config) : nullptr;
  }
  const void* kind() const override { return &kKind; }

  // Whether any has been set.
  void set(std::unique_ptr<net::FilterState>& state, format::FormatContext& context) const;
  bool clearsRoute() const { return clears_route_; }

 private:
  static constexpr char kKind = 0;

  struct Value {
    plan::FilterStateValue plan;
    format::Format format;
  };

  std::vector<Value> values_;
  const bool clears_route_;
};

class SetFilterStateConfig final : public HttpFilterConfig {
 public:
  explicit SetFilterStateConfig(const plan::SetFilterState& plan) : values_(plan) {}

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

  const FilterStateValues& values() const { return values_; }

 private:
  const FilterStateValues values_;
};

}  // namespace fairlead::filters
