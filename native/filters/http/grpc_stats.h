// envoy.filters.http.grpc_stats: counts calls of gRPC and Connect and their messages, by cluster
// and by method.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>

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
  bool isNamed(const GrpcMethod& method) const {
    return plan_.all_methods || methods_.contains(method);
  }

 private:
  struct Named {
    std::string service;
    std::string method;
  };
  struct Before {
    using is_transparent = void;
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      const int order = std::string_view(a.service).compare(b.service);
      return order == 0 ? std::string_view(a.method) < std::string_view(b.method) : order < 0;
    }
  };

  plan::GrpcStatsFilter plan_;
  std::set<Named, Before> methods_;
  std::shared_ptr<GrpcCalls> calls_;
};

}  // namespace fairlead::filters
