// envoy.filters.http.rbac: lets requests through, or not, by policies; others are only counted and
// told to logs (the shadow). A route's policies take the place of the filter's.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "filters/http/http_filter.h"
#include "filters/http/late_counts.h"
#include "filters/http/rbac_rules.h"
#include "format/filter_metadata.h"
#include "plan/plan.gen.h"
#include "stats/filter_scopes.h"
#include "stats/registry.h"

namespace fairlead::filters {

// Of the filter, or of a route.
class RbacSettings final : public route::FilterConfig {
 public:
  static Result<std::unique_ptr<const RbacSettings>> build(const plan::Rbac& plan);
  static const RbacSettings* of(const route::FilterConfig* config) {
    return config->kind() == &kKind ? static_cast<const RbacSettings*>(config) : nullptr;
  }
  const void* kind() const override { return &kKind; }

  // Rules, and what logs are told of each outcome.
  struct Engine {
    std::unique_ptr<const RbacRules> rules;
    // Before the keys of outcomes. Those of a route's are told with the filter's.
    std::string prefix;
    // By policy and then none: denied, allowed.
    std::vector<format::FilterMetadata> outcomes;

    const format::FilterMetadata& outcome(int policy, bool is_allowed) const {
      const size_t at = policy < 0 ? rules->size() : static_cast<size_t>(policy);
      return outcomes[at * 2 + (is_allowed ? 1 : 0)];
    }
  };
  // Null rules: there are none.
  Engine enforced;
  Engine shadow;
  // Its policies are counted each apart, too.
  bool counts_policies = false;
  // Of LOG: logs are to tell of the request, or not.
  format::FilterMetadata logged;
  format::FilterMetadata not_logged;

 private:
  static constexpr char kKind = 0;
};

class RbacConfig final : public HttpFilterConfig {
 public:
  static BuiltFilter build(const plan::Rbac& plan, const ConfigScope& scope);

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

  const RbacSettings& settings() const { return *settings_; }
  // By policy, too, where the settings want that.
  void count(const RbacSettings& settings, unsigned worker, int policy, bool is_allowed) const;
  void countShadow(const RbacSettings& settings, unsigned worker, int policy,
                   bool is_allowed) const;

 private:
  template <typename L>
  using Blocks = std::vector<std::shared_ptr<stats::Block<L>>>;

  // "<scope>policy.<name>.": of policies that routes have.
  template <typename L>
  class RouteCounts final : public NamedCounts<L> {
   public:
    RouteCounts(unsigned workers, stats::Scope scope)
        : NamedCounts<L>(workers), scope_(std::move(scope)) {}

   private:
    stats::Scope scopeOf(const std::string& policy) const override {
      return stats::rbacPolicyScope(scope_, policy);
    }

    const stats::Scope scope_;
  };

  std::unique_ptr<const RbacSettings> settings_;
  std::shared_ptr<stats::Block<stats::HttpRbac>> stats_;
  std::shared_ptr<stats::Block<stats::HttpRbacShadow>> shadow_stats_;
  // By policy; empty: those are not counted.
  Blocks<stats::HttpRbacPolicy> policy_stats_;
  Blocks<stats::HttpRbacShadowPolicy> shadow_policy_stats_;
  std::shared_ptr<RouteCounts<stats::HttpRbacPolicy>> route_stats_;
  std::shared_ptr<RouteCounts<stats::HttpRbacShadowPolicy>> route_shadow_stats_;
};

}  // namespace fairlead::filters
