// envoy.filters.http.jwt_authn: requests come through that have the tokens (RFC 7519) which the
// first rule that fits them requires. One whose token needs keys that have to be fetched waits.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "filters/http/http_filter.h"
#include "filters/jwt/verification.h"
#include "plan/plan.gen.h"
#include "route/match.h"

namespace fairlead::filters {

// Of a route.
class JwtRoute final : public route::FilterConfig {
 public:
  explicit JwtRoute(const plan::JwtRoute& of) : plan(of) {}
  static const JwtRoute* of(const route::FilterConfig* config) {
    return config->kind() == &kKind ? static_cast<const JwtRoute*>(config) : nullptr;
  }
  const void* kind() const override { return &kKind; }

  const plan::JwtRoute plan;

 private:
  static constexpr char kKind = 0;
};

class JwtAuthnConfig final : public HttpFilterConfig {
 public:
  using Requirement = std::unique_ptr<const JwtRequirement>;
  using Named = std::map<std::string, Requirement, std::less<>>;

  static BuiltFilter build(const plan::JwtAuthn& plan, const ConfigScope& scope);

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

  // Null: nothing is required.
  const JwtRequirement* find(const route::RequestView& view, const net::FilterState* state) const;
  // What a route names. Null: it is not there.
  const JwtRequirement* findNamed(std::string_view name) const;
  const std::string& names() const { return names_; }
  const std::vector<JwtProvider>& providers() const { return providers_; }
  bool bypassesPreflights() const { return bypasses_preflights_; }
  bool stripsReasons() const { return strips_reasons_; }
  // Whether a request of that worker may have to wait.
  bool mayWait(unsigned worker, net::Millis now) const;
  stats::Shard<stats::HttpJwtAuthn>& stats(unsigned worker) const {
    return *stats_->shard(worker + 1);
  }

 private:
  struct Rule {
    route::Match match;
    Requirement requirement;
  };

  static Result<JwtProvider> buildProvider(
      const plan::JwtProvider& plan, const ConfigScope& scope,
      std::shared_ptr<stats::Block<stats::HttpJwtAuthn>> stats);

  std::vector<JwtProvider> providers_;
  std::vector<Rule> rules_;
  Named named_;
  // "a,b"
  std::string names_;
  std::string filter_state_;
  Named by_state_;
  bool bypasses_preflights_ = false;
  bool strips_reasons_ = false;
  bool has_remote_ = false;
  std::shared_ptr<stats::Block<stats::HttpJwtAuthn>> stats_;
};

}  // namespace fairlead::filters
