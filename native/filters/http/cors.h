// envoy.filters.http.cors: answers preflights of browsers, and tells them which origins may read an
// answer, by the policy of the request's route. Without a policy it does nothing.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/runtime_slots.h"
#include "filters/http/http_filter.h"
#include "match/string_matcher.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"

namespace fairlead::filters {

// Of a route, a virtual host, a table or a weighted cluster.
class CorsPolicy final : public route::FilterConfig {
 public:
  static Result<std::unique_ptr<const route::FilterConfig>> build(const plan::CorsPolicy& plan,
                                                                  RuntimeSlots& slots);
  static const CorsPolicy* of(const route::FilterConfig* config) {
    return config->kind() == &kKind ? static_cast<const CorsPolicy*>(config) : nullptr;
  }
  const void* kind() const override { return &kKind; }

  // Without its origins.
  plan::CorsPolicy plan;
  std::vector<match::StringMatcher> origins;
  // In millionths.
  RuntimeNumber enabled;
  RuntimeNumber shadow;

 private:
  static constexpr char kKind = 0;
};

class CorsConfig final : public HttpFilterConfig {
 public:
  using Stats = stats::Block<stats::HttpCors>;

  static BuiltFilter build(const ConfigScope& scope);

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

  stats::Shard<stats::HttpCors>& stats(unsigned worker) const { return *stats_->shard(worker + 1); }

 private:
  std::shared_ptr<Stats> stats_;
};

}  // namespace fairlead::filters
