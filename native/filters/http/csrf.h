// envoy.filters.http.csrf: requests that change something must come from a page of the same host,
// or of one that is allowed (cross-site request forgery).
#pragma once

#include <memory>
#include <vector>

#include "base/result.h"
#include "base/runtime_slots.h"
#include "filters/http/http_filter.h"
#include "match/string_matcher.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"

namespace fairlead::filters {

// Of the filter, or of a route in its place.
class CsrfPolicy final : public route::FilterConfig {
 public:
  static Result<std::unique_ptr<const CsrfPolicy>> build(const plan::CsrfPolicy& plan,
                                                         RuntimeSlots& slots);
  static const CsrfPolicy* of(const route::FilterConfig* config) {
    return config->kind() == &kKind ? static_cast<const CsrfPolicy*>(config) : nullptr;
  }
  const void* kind() const override { return &kKind; }

  bool allows(std::string_view origin) const;

  // In millionths.
  RuntimeNumber enabled;
  RuntimeNumber shadow;

 private:
  static constexpr char kKind = 0;

  std::vector<match::StringMatcher> additional_;
};

class CsrfConfig final : public HttpFilterConfig {
 public:
  static BuiltFilter build(const plan::CsrfPolicy& plan, const ConfigScope& scope);

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

  stats::Shard<stats::HttpCsrf>& stats(unsigned worker) const { return *stats_->shard(worker + 1); }

 private:
  std::unique_ptr<const CsrfPolicy> policy_;
  std::shared_ptr<stats::Block<stats::HttpCsrf>> stats_;
};

}  // namespace fairlead::filters
