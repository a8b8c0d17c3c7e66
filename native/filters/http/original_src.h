// envoy.filters.http.original_src: connections to hosts have the address of the request's client as
// theirs, which needs the right to do so (CAP_NET_ADMIN), and routes that lead back here.
#pragma once

#include "filters/http/http_filter.h"
#include "plan/plan.gen.h"

namespace fairlead::filters {

class OriginalSrcFilterConfig final : public HttpFilterConfig {
 public:
  explicit OriginalSrcFilterConfig(const plan::OriginalSrcFilter& plan);

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

 private:
  const plan::OriginalSrcFilter plan_;
};

}  // namespace fairlead::filters
