#include "filters/http/jwt_authn.h"

#include <utility>

#include "base/wall_clock.h"
#include "filters/http/request_metadata.h"
#include "stats/scopes.h"

namespace fairlead::filters {

namespace {

using JwtCounter = stats::HttpJwtAuthn::Counter;

constexpr std::string_view kJwtSpace = "envoy.filters.http.jwt_authn";
// As much of a path as a challenge says.
constexpr size_t kMaxRealmPath = 256;
constexpr uint64_t kMicrosPerSecond = 1'000'000;

bool isPreflight(const http::RequestHead& head) {
  const auto says = [&](http::HeaderId id) {
    const http::HeaderEntry* entry = head.headers.find(id);
    return entry && !entry->value().empty();
  };
  return head.method == "OPTIONS" && says(http::HeaderId::Origin) &&
         says(http::HeaderId::AccessControlRequestMethod);
}

// Of one request.
class JwtAuthn final : public HttpFilter, private JwtKeyStore::Waiter {
 public:
  JwtAuthn(const JwtAuthnConfig& config, FilterMemory& memory, const FilterScope& scope,
           FilterPlace& place)
      : config_(config), memory_(memory), scope_(scope), place_(place) {}

  FilterStatus onRequestHead(http::RequestHead& head, const route::RequestView& view,
                             bool) override {
    if (config_.bypassesPreflights() && isPreflight(head)) {
      stats().add(JwtCounter::CorsPreflightBypassed);
      return allow();
    }
    if (!findRequirement(view)) return FilterStatus::Answer;
    if (!requirement_) return allow();
    realm_ = memory_.keep(std::string(view.scheme) + "://" + std::string(head.authority) +
                          std::string(head.path.substr(0, kMaxRealmPath)));
    if (config_.mayWait(scope_.worker, place_.loop().now())) keepHead(head);
    const JwtStatus status = verify(head, true);
    if (status == JwtStatus::Waits) {
      waiting_for_->wait(scope_.worker, this);
      return FilterStatus::Pause;
    }
    if (status != JwtStatus::Ok) return refuse(status);
    if (clears_route_) place_.clearRoute();
    return allow();
  }

  FilterStatus onRequestData(std::string_view, bool) override { return waits(); }
  FilterStatus onRequestTrailers(http::HeaderMap&) override { return waits(); }

  void onRequestHeadReleased(http::RequestHead& head, Arena&) override {
    if (!verified_) return;
    head.path = verified_->path;
    head.headers = verified_->headers;
    if (clears_route_) place_.clearRoute();
  }

  FilterStatus onResponseHead(uint16_t, http::HeaderMap& headers, bool, Arena&) override {
    if (challenge_.empty()) return FilterStatus::Continue;
    headers.remove("www-authenticate");
    headers.add(http::HeaderId::Other, "www-authenticate", challenge_);
    return FilterStatus::Continue;
  }

  LocalReply answer() const override { return {status_, body_, details_}; }

  void onEnd() override {
    if (waiting_for_) std::exchange(waiting_for_, nullptr)->forget(scope_.worker, this);
  }

 private:
  // What a waiting request was like, and what becomes of it.
  struct KeptHead {
    std::string_view method;
    std::string_view path;
    std::string_view authority;
    http::HeaderMap headers;
  };

  stats::Shard<stats::HttpJwtAuthn>& stats() const { return config_.stats(scope_.worker); }
  FilterStatus waits() const { return waiting_for_ ? FilterStatus::Pause : FilterStatus::Continue; }

  // False: the route asks for one that is not there, which is answered.
  bool findRequirement(const route::RequestView& view) {
    const route::FilterConfigList own = place_.routeConfigs();
    const JwtRoute* const route = own.empty() ? nullptr : JwtRoute::of(own.front());
    if (!route) {
      requirement_ = config_.find(view, scope_.notes.filter_state.get());
      return true;
    }
    if (route->plan.disabled) return true;
    requirement_ = config_.findNamed(route->plan.requirement);
    if (requirement_) return true;
    const std::string why = "Wrong requirement_name: " + route->plan.requirement +
                            ". It should be one of [" + config_.names() + "]";
    stats().add(JwtCounter::Denied);
    status_ = 403;
    if (!config_.stripsReasons()) body_ = memory_.keep("Failed JWT authentication: " + why);
    details_ = detailsOf(why);
    return false;
  }

  JwtStatus verify(http::RequestHead& head, bool is_first) {
    const JwtVerification::Scope scope = {config_.providers(),
                                          scope_.worker,
                                          place_.loop().now(),
                                          wallClockMicros() / kMicrosPerSecond,
                                          memory_.arena(),
                                          fetches_,
                                          is_first ? &stats() : nullptr};
    JwtVerification verification(scope, head);
    const JwtStatus status = verification.run(*requirement_);
    if (status == JwtStatus::Waits) {
      missing_ = verification.missing();
      waiting_for_ = config_.providers()[missing_].remote.get();
      return status;
    }
    clears_route_ = verification.clearsRoute();
    if (verification.metadata().first) {
      metadata_.set(scope_.notes, kJwtSpace, verification.metadata());
    }
    return status;
  }

  void keepHead(const http::RequestHead& head) {
    kept_ = std::make_unique<KeptHead>();
    kept_->method = memory_.keep(head.method);
    kept_->path = memory_.keep(head.path);
    kept_->authority = memory_.keep(head.authority);
    for (const http::HeaderEntry& entry : head.headers) {
      if (entry.name().empty()) continue;
      kept_->headers.add(entry.id, memory_.keep(entry.name()), memory_.keep(entry.value()));
    }
  }

  // Keys have come, or cannot: everything is looked at once more.
  void onKeys(bool is_fetched) override {
    waiting_for_ = nullptr;
    fetches_.resize(config_.providers().size());
    fetches_[missing_] = is_fetched ? JwtVerification::Fetch::Done : JwtVerification::Fetch::Failed;
    auto head = std::make_unique<http::RequestHead>();
    head->method = kept_->method;
    head->path = kept_->path;
    head->authority = kept_->authority;
    head->headers = kept_->headers;
    const JwtStatus status = verify(*head, false);
    if (status == JwtStatus::Waits) {
      waiting_for_->wait(scope_.worker, this);
      return;
    }
    if (status != JwtStatus::Ok) {
      refuse(status);
      place_.answer(answer());
      return;
    }
    verified_ = std::make_unique<KeptHead>();
    verified_->path = head->path;
    verified_->headers = head->headers;
    allow();
    place_.continueRequest();
  }

  FilterStatus allow() {
    stats().add(JwtCounter::Allowed);
    return FilterStatus::Continue;
  }

  FilterStatus refuse(JwtStatus status) {
    stats().add(JwtCounter::Denied);
    status_ = status == JwtStatus::AudienceNotAllowed ? 403 : 401;
    details_ = detailsOf(textOf(status));
    if (config_.stripsReasons()) return FilterStatus::Answer;
    body_ = textOf(status);
    const std::string_view error = status == JwtStatus::Missed ? "" : ", error=\"invalid_token\"";
    challenge_ = memory_.keep("Bearer realm=\"" + std::string(realm_) + "\"" + std::string(error));
    return FilterStatus::Answer;
  }

  std::string_view detailsOf(std::string_view why) {
    std::string details = "jwt_authn_access_denied{" + std::string(why) + "}";
    for (char& c : details) {
      if (c == ' ') c = '_';
    }
    return memory_.keep(details);
  }

  const JwtAuthnConfig& config_;
  FilterMemory& memory_;
  const FilterScope& scope_;
  FilterPlace& place_;
  // Null: nothing is required.
  const JwtRequirement* requirement_ = nullptr;
  std::string_view realm_;
  bool clears_route_ = false;
  RequestMetadata metadata_;
  // Of a request that may have to wait. Null: it does not.
  std::unique_ptr<KeptHead> kept_;
  std::unique_ptr<KeptHead> verified_;
  JwtKeyStore* waiting_for_ = nullptr;
  size_t missing_ = 0;
  std::vector<JwtVerification::Fetch> fetches_;
  // Of one that is refused.
  uint16_t status_ = 401;
  std::string_view body_;
  std::string_view details_;
  std::string_view challenge_;
};

}  // namespace

Result<JwtProvider> JwtAuthnConfig::buildProvider(
    const plan::JwtProvider& plan, const ConfigScope& scope,
    std::shared_ptr<stats::Block<stats::HttpJwtAuthn>> stats) {
  JwtProvider provider{plan, JwtAudiences(plan.audiences), std::nullopt, nullptr, nullptr, {}};
  if (plan.subjects) {
    Result<match::StringMatcher> subjects = match::StringMatcher::build(*plan.subjects);
    if (!subjects) return subjects.error();
    provider.subjects = std::move(subjects.value());
  }
  if (plan.local) {
    auto keys = JwtKeySet::build(*plan.local);
    if (!keys) return keys.error();
    provider.local = std::move(keys.value());
  }
  if (plan.remote > 0) {
    provider.remote =
        std::make_shared<JwtKeyStore>(plan.remote, plan.cache_duration_ms, scope.workers,
                                      scope.jwt_keys.asks(), std::move(stats));
    scope.jwt_keys.add(provider.remote);
  }
  for (unsigned i = 0; i < scope.workers; ++i) {
    provider.caches.push_back(
        std::make_unique<JwtTokenCache>(plan.cache_size, plan.cache_max_token_bytes));
  }
  return provider;
}

BuiltFilter JwtAuthnConfig::build(const plan::JwtAuthn& plan, const ConfigScope& scope) {
  auto config = std::make_shared<JwtAuthnConfig>();
  std::string part = "jwt_authn." + plan.stat_prefix;
  if (!part.ends_with('.')) part.push_back('.');
  config->stats_ = scope.registry.create<stats::HttpJwtAuthn>(innerScope(scope.stats, part));
  for (const plan::JwtProvider& one : plan.providers) {
    Result<JwtProvider> provider = buildProvider(one, scope, config->stats_);
    if (!provider) return provider.error();
    config->has_remote_ |= provider.value().remote != nullptr;
    config->providers_.push_back(std::move(provider.value()));
  }
  const auto build = [&](const Boxed<plan::JwtRequirement>& one) {
    return one ? JwtRequirement::build(*one, plan.providers) : nullptr;
  };
  for (const plan::JwtRule& rule : plan.rules) {
    Result<route::Match> match =
        route::Match::build(rule.match.value_or(plan::RouteMatch()), &scope.slots);
    if (!match) return match.error();
    config->rules_.push_back({std::move(match.value()), build(rule.requirement)});
  }
  for (const plan::JwtNamedRequirement& one : plan.requirements) {
    config->names_.append(config->names_.empty() ? "" : ",").append(one.name);
    config->named_.emplace(one.name, build(one.requirement));
  }
  config->filter_state_ = plan.filter_state;
  for (const plan::JwtNamedRequirement& one : plan.filter_state_rules) {
    config->by_state_.emplace(one.name, build(one.requirement));
  }
  config->bypasses_preflights_ = plan.bypasses_preflights;
  config->strips_reasons_ = plan.strips_reasons;
  return std::shared_ptr<const HttpFilterConfig>(std::move(config));
}

const JwtRequirement* JwtAuthnConfig::find(const route::RequestView& view,
                                           const net::FilterState* state) const {
  const std::string_view path = view.pathOnly();
  for (const Rule& rule : rules_) {
    if (rule.match.matches(view, path)) return rule.requirement.get();
  }
  if (filter_state_.empty() || !state) return nullptr;
  const std::string* const value = state->find(filter_state_);
  const auto found = value ? by_state_.find(*value) : by_state_.end();
  return found == by_state_.end() ? nullptr : found->second.get();
}

const JwtRequirement* JwtAuthnConfig::findNamed(std::string_view name) const {
  const auto found = named_.find(name);
  return found == named_.end() ? nullptr : found->second.get();
}

bool JwtAuthnConfig::mayWait(unsigned worker, net::Millis now) const {
  if (!has_remote_) return false;
  for (const JwtProvider& provider : providers_) {
    if (provider.remote && !provider.remote->keysOf(worker, now)) return true;
  }
  return false;
}

HttpFilter* JwtAuthnConfig::make(FilterMemory& memory, const FilterScope& scope,
                                 FilterPlace& place) const {
  return memory.make<JwtAuthn>(*this, memory, scope, place);
}

}  // namespace fairlead::filters
