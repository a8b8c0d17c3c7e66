// envoy.filters.http.body_size_limit: requests whose bodies are larger than they may be are
// refused, without holding any of them.
#pragma once

#include "filters/http/http_filter.h"
#include "plan/plan.gen.h"

namespace fairlead::filters {

class BodySizeLimitConfig final : public HttpFilterConfig {
 public:
  explicit BodySizeLimitConfig(const plan::BodySizeLimit& plan) : plan_(plan) {}

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

 private:
  const plan::BodySizeLimit plan_;
};

}  // namespace fairlead::filters
