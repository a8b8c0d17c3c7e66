// How authorization services are asked, and what the filter that asks them is like, as configured.
// Immutable but for statistics; built on the control thread, read by all workers.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/name_ids.h"
#include "base/result.h"
#include "base/runtime_slots.h"
#include "calls/service.h"
#include "filters/http/header_rules.h"
#include "filters/http/late_counts.h"
#include "filters/http/rbac_rules.h"
#include "match/string_matcher.h"
#include "plan/plan.gen.h"
#include "route/filter_settings.h"
#include "stats/registry.h"

namespace fairlead::filters {

// One of them has to fit.
class NameList {
 public:
  static Result<NameList> build(const Boxed<plan::StringMatches>& plan);
  // There is a list.
  bool isSet() const { return is_set_; }
  bool has(std::string_view name) const {
    for (const match::StringMatcher& matcher : any_) {
      if (matcher.matches(name)) return true;
    }
    return false;
  }

 private:
  bool is_set_ = false;
  std::vector<match::StringMatcher> any_;
};

struct AuthzService {
  static Result<std::unique_ptr<const AuthzService>> build(const plan::ExtAuthzService& plan,
                                                           NameIds& clusters,
                                                           stats::Registry& registry);

  std::unique_ptr<const calls::Service> service;
  // Absent: it is gRPC.
  std::optional<plan::ExtAuthzHttp> http;
  NameList upstream_headers;
  NameList upstream_append_headers;
  NameList client_headers;
  NameList client_headers_on_success;
  NameList metadata_headers;
  NameList allowed_headers;
};

struct ExtAuthzSettings {
  static Result<std::unique_ptr<const ExtAuthzSettings>> build(
      const std::string& name, const plan::ExtAuthz& plan, stats::Registry& registry,
      const stats::Scope& http, unsigned workers, RuntimeSlots& slots, NameIds& clusters);

  // As the configuration calls the filter.
  std::string name;
  plan::ExtAuthz plan;
  std::unique_ptr<const AuthzService> service;
  RuntimeNumber enabled;
  RuntimeNumber deny_at_disable;
  std::optional<RbacCondition> enabled_metadata;
  NameList allowed_headers;
  NameList disallowed_headers;
  HeaderRules rules;
  std::shared_ptr<stats::Block<stats::HttpExtAuthz>> stats;
  std::shared_ptr<ClusterCounts<stats::ClusterExtAuthz>> cluster_counts;
};

class ExtAuthzRoute final : public route::FilterConfig {
 public:
  static Result<std::unique_ptr<const ExtAuthzRoute>> build(const plan::ExtAuthzRoute& plan,
                                                            NameIds& clusters,
                                                            stats::Registry& registry);
  static const ExtAuthzRoute* of(const route::FilterConfig* config) {
    return config->kind() == &kKind ? static_cast<const ExtAuthzRoute*>(config) : nullptr;
  }
  const void* kind() const override { return &kKind; }

  plan::ExtAuthzRoute plan;
  // Null: the filter's.
  std::unique_ptr<const AuthzService> service;

 private:
  static constexpr char kKind = 0;
};

}  // namespace fairlead::filters
