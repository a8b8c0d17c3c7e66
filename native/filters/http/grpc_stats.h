// envoy.filters.http.grpc_stats: counts calls and their messages, by cluster and by method.
#pragma once

#include <memory>
#include <set>
#include <string>

#include "filters/http/grpc_calls.h"
#include "filters/http/http_filter.h"

namespace fairlead::filters {

class GrpcStatsConfig final : public HttpFilterConfig {
 public:
  static BuiltFilter build(const plan::GrpcStatsFilter& plan, const ConfigScope& scope);

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

  GrpcCalls& calls() const { return *calls_; }
  const plan::GrpcStatsFilter& plan() const { return plan_; }
  // Whether calls of it are counted apart from the others.
  bool isNamed(std::string_view path) const { return plan_.all_methods || paths_.contains(path); }

 private:
  plan::GrpcStatsFilter plan_;
  std::set<std::string, std::less<>> paths_;
  std::shared_ptr<GrpcCalls> calls_;
};

}  // namespace fairlead::filters
