// The HTTP filters that there are, but for the router. A new one is a pair of files and a line in
// http_filters.cc.
#pragma once

#include "filters/http/http_filter.h"
#include "plan/plan.gen.h"

namespace fairlead::filters {

BuiltFilter buildHttpFilter(const plan::HttpFilter& plan, const ConfigScope& scope);

// What a route says of one of them.
Result<std::unique_ptr<const route::FilterConfig>> buildFilterConfig(const plan::FilterConfig& plan,
                                                                     const RouteScope& scope);

}  // namespace fairlead::filters
