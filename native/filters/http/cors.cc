#include "filters/http/cors.h"

#include <algorithm>

namespace fairlead::filters {

namespace {

using CorsCounter = stats::HttpCors::Counter;
using http::HeaderId;

constexpr uint32_t kAll = 1'000'000;

// Of one request whose route has a policy.
class Cors final : public HttpFilter {
 public:
  Cors(const CorsConfig& config, FilterMemory& memory, const FilterScope& scope,
       route::FilterConfigList policies)
      : config_(config), memory_(memory), scope_(scope), policies_(policies) {}

  FilterStatus onRequestHead(http::RequestHead& head, const route::RequestView&, bool) override {
    const CorsPolicy& nearest = *CorsPolicy::of(policies_.front());
    const bool enabled = draws(nearest.enabled);
    if (!enabled && !draws(nearest.shadow)) return FilterStatus::Continue;
    const http::HeaderEntry* origin = head.headers.find(HeaderId::Origin);
    if (!origin || origin->value().empty()) return FilterStatus::Continue;
    const bool allowed = allows(origin->value());
    config_.stats(scope_.worker)
        .add(allowed ? CorsCounter::OriginValid : CorsCounter::OriginInvalid);
    if (!enabled) return FilterStatus::Continue;
    if (allowed) origin_ = memory_.keep(origin->value());
    const http::HeaderEntry* method = head.headers.find(HeaderId::AccessControlRequestMethod);
    const bool is_preflight = head.method == "OPTIONS" && method && !method->value().empty();
    if (!is_preflight || (!allowed && forwardsOthers())) return FilterStatus::Continue;
    preparePreflight(head.headers, method->value());
    return FilterStatus::Answer;
  }

  LocalReply answer() const override {
    LocalReply answer{200, {}, "cors_response"};
    answer.is_bare = true;
    return answer;
  }

  FilterStatus onResponseHead(uint16_t, http::HeaderMap& headers, bool, Arena&) override {
    if (is_preflight_) {
      setUnlessEmpty(headers, HeaderId::AccessControlAllowOrigin, origin_);
      if (flag(&plan::CorsPolicy::allow_credentials, false)) {
        headers.set(HeaderId::AccessControlAllowCredentials, "true");
      }
      setUnlessEmpty(headers, HeaderId::AccessControlAllowMethods, methods_);
      if (headers_) headers.set(HeaderId::AccessControlAllowHeaders, *headers_);
      setUnlessEmpty(headers, HeaderId::AccessControlMaxAge, text(&plan::CorsPolicy::max_age));
      if (is_private_allowed_) headers.set(HeaderId::AccessControlAllowPrivateNetwork, "true");
    }
    if (origin_.empty()) return FilterStatus::Continue;
    headers.set(HeaderId::AccessControlAllowOrigin, origin_);
    if (flag(&plan::CorsPolicy::allow_credentials, false)) {
      headers.set(HeaderId::AccessControlAllowCredentials, "true");
    }
    setUnlessEmpty(headers, HeaderId::AccessControlExposeHeaders,
                   text(&plan::CorsPolicy::expose_headers));
    return FilterStatus::Continue;
  }

 private:
  bool draws(const RuntimeNumber& share) const {
    const uint64_t millionths = share.value();
    return millionths >= kAll || scope_.clusters.context().random.below(kAll) < millionths;
  }

  bool allows(std::string_view origin) const {
    for (const route::FilterConfig* policy : policies_) {
      const auto& origins = CorsPolicy::of(policy)->origins;
      if (origins.empty()) continue;
      return std::ranges::any_of(origins, [&](const match::StringMatcher& one) {
        return one.matches("*") || one.matches(origin);
      });
    }
    return false;
  }

  // The nearest policy that says anything of it counts, field by field.
  std::string_view text(std::string plan::CorsPolicy::* field) const {
    for (const route::FilterConfig* policy : policies_) {
      const std::string& value = CorsPolicy::of(policy)->plan.*field;
      if (!value.empty()) return value;
    }
    return {};
  }
  bool flag(std::optional<bool> plan::CorsPolicy::* field, bool otherwise) const {
    for (const route::FilterConfig* policy : policies_) {
      const std::optional<bool>& value = CorsPolicy::of(policy)->plan.*field;
      if (value) return *value;
    }
    return otherwise;
  }
  bool forwardsOthers() const {
    return flag(&plan::CorsPolicy::forward_not_matching_preflights, true);
  }

  void preparePreflight(const http::HeaderMap& request, std::string_view method) {
    is_preflight_ = true;
    methods_ = text(&plan::CorsPolicy::allow_methods);
    if (methods_ == "*") methods_ = memory_.keep(method);
    const std::string_view allowed = text(&plan::CorsPolicy::allow_headers);
    if (allowed == "*") {
      const http::HeaderEntry* wanted = request.find(HeaderId::AccessControlRequestHeaders);
      headers_ = wanted ? memory_.keep(wanted->value()) : std::string_view();
    } else if (!allowed.empty()) {
      headers_ = allowed;
    }
    const http::HeaderEntry* is_private =
        request.find(HeaderId::AccessControlRequestPrivateNetwork);
    is_private_allowed_ = is_private && is_private->value() == "true" &&
                          flag(&plan::CorsPolicy::allow_private_network_access, false);
  }

  static void setUnlessEmpty(http::HeaderMap& headers, HeaderId id, std::string_view value) {
    if (!value.empty()) headers.set(id, value);
  }

  const CorsConfig& config_;
  FilterMemory& memory_;
  const FilterScope& scope_;
  const route::FilterConfigList policies_;
  // The request's, once it was found to be allowed.
  std::string_view origin_;
  // What a preflight is answered.
  std::string_view methods_;
  // Empty: any were asked about, and none are wanted. Absent: nothing is said of them.
  std::optional<std::string_view> headers_;
  bool is_preflight_ = false;
  bool is_private_allowed_ = false;
};

}  // namespace

Result<std::unique_ptr<const route::FilterConfig>> CorsPolicy::build(const plan::CorsPolicy& plan,
                                                                     RuntimeSlots& slots) {
  auto policy = std::make_unique<CorsPolicy>();
  policy->plan = plan;
  policy->plan.allow_origins.clear();
  for (const plan::StringMatch& origin : plan.allow_origins) {
    Result<match::StringMatcher> matcher = match::StringMatcher::build(origin);
    if (!matcher) return matcher.error();
    policy->origins.push_back(std::move(matcher.value()));
  }
  const auto number = [&](const Boxed<plan::Share>& share, uint32_t otherwise) {
    return share ? RuntimeNumber(share->millionths, share->slot, &slots)
                 : RuntimeNumber(otherwise, 0, nullptr);
  };
  policy->enabled = number(plan.enabled, kAll);
  policy->shadow = number(plan.shadow, 0);
  return std::unique_ptr<const route::FilterConfig>(std::move(policy));
}

BuiltFilter CorsConfig::build(const ConfigScope& scope) {
  auto config = std::make_shared<CorsConfig>();
  config->stats_ = scope.registry.create<stats::HttpCors>(innerScope(scope.stats, "cors."));
  return std::shared_ptr<const HttpFilterConfig>(std::move(config));
}

HttpFilter* CorsConfig::make(FilterMemory& memory, const FilterScope& scope,
                             FilterPlace& place) const {
  const route::FilterConfigList policies = place.routeConfigs();
  // A route that answers by itself or redirects has no need of it.
  if (policies.empty() || !scope.route || !scope.route->cluster) return nullptr;
  for (const route::FilterConfig* policy : policies) {
    if (!CorsPolicy::of(policy)) return nullptr;
  }
  return memory.make<Cors>(*this, memory, scope, policies);
}

}  // namespace fairlead::filters
