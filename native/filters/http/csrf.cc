#include "filters/http/csrf.h"

#include <algorithm>
#include <utility>

#include "stats/scopes.h"

namespace fairlead::filters {

namespace {

using CsrfCounter = stats::HttpCsrf::Counter;

bool isScheme(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; });
}

// Host and port of a URL; of what is none, all of it.
std::string_view hostOf(std::string_view url) {
  constexpr std::string_view kMark = "://";
  const size_t at = url.find(kMark);
  if (at == std::string_view::npos || at == 0 || !isScheme(url.substr(0, at))) return url;
  const std::string_view rest = url.substr(at + kMark.size());
  const std::string_view host = rest.substr(0, rest.find_first_of("/?"));
  return host.empty() ? url : host;
}

// Where the page comes from that asks; empty: nobody says it, or it is to be kept from us.
std::string_view originOf(const http::HeaderMap& headers) {
  if (const http::HeaderEntry* origin = headers.find(http::HeaderId::Origin)) {
    if (origin->value() == "null") return {};
    if (!origin->value().empty()) return hostOf(origin->value());
  }
  const http::HeaderEntry* referer = headers.find(http::HeaderId::Referer);
  return referer ? hostOf(referer->value()) : std::string_view();
}

bool isChanging(std::string_view method) {
  return method == "POST" || method == "PUT" || method == "DELETE" || method == "PATCH";
}

// Of one request that the policy is drawn for.
class Csrf final : public HttpFilter {
 public:
  Csrf(const CsrfConfig& config, const CsrfPolicy& policy, const FilterScope& scope)
      : config_(config), policy_(policy), scope_(scope) {}

  FilterStatus onRequestHead(http::RequestHead& head, const route::RequestView&, bool) override {
    const bool is_enforced = draws(policy_.enabled);
    if (!is_enforced && !draws(policy_.shadow)) return FilterStatus::Continue;
    if (!isChanging(head.method)) return FilterStatus::Continue;
    auto& stats = config_.stats(scope_.worker);
    const std::string_view origin = originOf(head.headers);
    if (origin.empty()) {
      stats.add(CsrfCounter::MissingSourceOrigin);
    } else if (origin == hostOf(head.authority) || policy_.allows(origin)) {
      stats.add(CsrfCounter::RequestValid);
      return FilterStatus::Continue;
    } else {
      stats.add(CsrfCounter::RequestInvalid);
    }
    return is_enforced ? FilterStatus::Answer : FilterStatus::Continue;
  }

  LocalReply answer() const override { return {403, "Invalid origin", "csrf_origin_mismatch"}; }

 private:
  bool draws(const RuntimeNumber& share) const {
    return scope_.clusters.context().random.draws(share.value());
  }

  const CsrfConfig& config_;
  const CsrfPolicy& policy_;
  const FilterScope& scope_;
};

}  // namespace

Result<std::unique_ptr<const CsrfPolicy>> CsrfPolicy::build(const plan::CsrfPolicy& plan,
                                                            RuntimeSlots& slots) {
  auto policy = std::make_unique<CsrfPolicy>();
  for (const plan::StringMatch& origin : plan.additional_origins) {
    Result<match::StringMatcher> matcher = match::StringMatcher::build(origin);
    if (!matcher) return matcher.error();
    policy->additional_.push_back(std::move(matcher.value()));
  }
  const auto number = [&](const Boxed<plan::Share>& share) {
    return share ? RuntimeNumber(share->millionths, share->slot, &slots)
                 : RuntimeNumber(0, 0, nullptr);
  };
  policy->enabled = number(plan.enabled);
  policy->shadow = number(plan.shadow);
  return std::unique_ptr<const CsrfPolicy>(std::move(policy));
}

bool CsrfPolicy::allows(std::string_view origin) const {
  return std::ranges::any_of(additional_,
                             [&](const match::StringMatcher& one) { return one.matches(origin); });
}

BuiltFilter CsrfConfig::build(const plan::CsrfPolicy& plan, const ConfigScope& scope) {
  auto config = std::make_shared<CsrfConfig>();
  Result<std::unique_ptr<const CsrfPolicy>> policy = CsrfPolicy::build(plan, scope.slots);
  if (!policy) return policy.error();
  config->policy_ = std::move(policy.value());
  config->stats_ = scope.registry.create<stats::HttpCsrf>(innerScope(scope.stats, "csrf."));
  return std::shared_ptr<const HttpFilterConfig>(std::move(config));
}

HttpFilter* CsrfConfig::make(FilterMemory& memory, const FilterScope& scope,
                             FilterPlace& place) const {
  const CsrfPolicy* policy = policy_.get();
  const route::FilterConfigList own = place.routeConfigs();
  if (!own.empty() && CsrfPolicy::of(own.front())) policy = CsrfPolicy::of(own.front());
  return memory.make<Csrf>(*this, *policy, scope);
}

}  // namespace fairlead::filters
