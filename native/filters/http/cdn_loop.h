// envoy.filters.http.cdn_loop: requests say which CDNs they have passed (RFC 8586), and do not pass
// this one more often than they may.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "filters/http/http_filter.h"
#include "plan/plan.gen.h"

namespace fairlead::filters {

// How often a CDN-Loop header names a CDN; nullopt: it is none.
std::optional<uint32_t> countCdn(std::string_view header, std::string_view id);

class CdnLoopConfig final : public HttpFilterConfig {
 public:
  explicit CdnLoopConfig(const plan::CdnLoop& plan) : plan_(plan) {}

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

 private:
  const plan::CdnLoop plan_;
};

}  // namespace fairlead::filters
