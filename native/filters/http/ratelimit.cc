#include "filters/http/ratelimit.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "calls/calls.h"
#include "filters/http/charged_cluster.h"
#include "filters/http/header_rules.h"
#include "filters/http/ratelimit_messages.h"
#include "format/struct_metadata.h"
#include "http/joined_headers.h"
#include "net/filter_state.h"
#include "net/loop.h"
#include "tracing/call_span.h"

namespace fairlead::filters {

namespace {

using LimitCounter = stats::ClusterRatelimit::Counter;
using http::HeaderId;
using XRateLimit = plan::RateLimit::XRateLimit;

constexpr uint32_t kGrpcResourceExhausted = 8;

// For how many requests it counts, as was kept with it or with its connection; 0: nobody says.
uint32_t hitsOf(const format::FormatContext& context) {
  constexpr std::string_view kKey = "envoy.ratelimit.hits_addend";
  const std::string* const text = net::findAs(net::FilterState::Form::Bare, kKey,
                                              context.filter_state, context.connection_state);
  uint64_t hits = 0;
  return text && parseDecimal(*text, &hits) ? static_cast<uint32_t>(hits) : 0;
}

// Of one request.
class Ratelimit final : public HttpFilter, private calls::CallOwner {
 public:
  Ratelimit(const RatelimitConfig& config, const FilterScope& scope, FilterPlace& place)
      : config_(config), scope_(scope), place_(place), call_(*this) {
    for (const route::FilterConfig* own : place.routeConfigs()) {
      if (!route_) route_ = RatelimitRoute::of(own);
    }
    has_late_ = findLate();
    if (has_late_) scope.notes.keeps_request_head = true;
  }

  FilterStatus onRequestHead(http::RequestHead& head, const route::RequestView& view,
                             bool) override {
    if (!draws(config_.enabled) || !isMeant(head.headers)) return FilterStatus::Continue;
    cluster_.find(scope_, view);
    if (!cluster_) return FilterStatus::Continue;
    is_limited_ = true;
    format::FormatContext context;
    place_.describe(&context);
    describe(view, context, false, &descriptors_);
    if (descriptors_.empty()) return FilterStatus::Continue;
    is_asking_ = true;
    call_.traceIn(place_.trace());
    call_.askGrpc(*scope_.calls, *config_.service, kRatelimitMethod,
                  ratelimitRequest(domain(), descriptors_, hitsOf(context)), &context);
    return FilterStatus::Pause;
  }
  FilterStatus onRequestData(std::string_view, bool) override {
    return is_asking_ ? FilterStatus::Pause : FilterStatus::Continue;
  }
  FilterStatus onRequestTrailers(http::HeaderMap&) override {
    return is_asking_ ? FilterStatus::Pause : FilterStatus::Continue;
  }

  void onRequestHeadReleased(http::RequestHead& head, Arena&) override {
    addAll(answer_.request_headers, head.headers);
  }

  FilterStatus onResponseHead(uint16_t, http::HeaderMap& headers, bool, Arena& arena) override {
    if (has_failed_) return FilterStatus::Continue;
    addAll(answer_.response_headers, headers);
    if (answer_.is_over_limit && !config_.plan.hides_ratelimited) {
      headers.set(HeaderId::XEnvoyRateLimited, "true");
    }
    tellLimits(headers, arena);
    if (is_refused_ && !config_.response_headers.empty()) {
      format::FormatContext context;
      place_.describe(&context);
      // The real server makes them before there is an answer.
      context.status = 0;
      config_.response_headers.apply(headers, context, arena);
    }
    return FilterStatus::Continue;
  }

  void onEnd() override {
    call_.cancel();
    if (is_limited_ && has_late_) tellEnd();
  }

 private:
  bool draws(const RuntimeNumber& share) const {
    return scope_.clusters.context().random.draws(share.value());
  }

  bool isMeant(const http::HeaderMap& headers) const {
    using Requests = plan::Ratelimit::Requests;
    if (config_.plan.requests == Requests::Both) return true;
    const http::HeaderEntry* const internal = headers.find(HeaderId::XEnvoyInternal);
    const bool is_internal = internal && internal->value() == "true";
    return is_internal == (config_.plan.requests == Requests::Internal);
  }

  std::string_view domain() const {
    return route_ && !route_->plan.domain.empty() ? std::string_view(route_->plan.domain)
                                                  : std::string_view(config_.plan.domain);
  }

  // They take the place of those of routes.
  const RateLimits* ownLimits() const {
    return route_ && route_->limits ? route_->limits.get() : config_.own_limits.get();
  }

  void describe(const route::RequestView& view, const format::FormatContext& context, bool at_end,
                std::vector<Descriptor>* out) const {
    const DescriptorSource source{view, context, context.downstream_remote,
                                  cluster_->settings().name};
    Random& random = scope_.clusters.context().random;
    if (const RateLimits* const own = ownLimits()) {
      own->describe(std::nullopt, at_end, source, random, out);
      return;
    }
    const RateLimits* of_route = nullptr;
    const RateLimits* of_host = nullptr;
    for (const route::FilterConfig* config : place_.routeConfigs()) {
      const RateLimits* const limits = RateLimits::of(config);
      if (limits) (limits->isOfVirtualHost() ? of_host : of_route) = limits;
    }
    const uint32_t stage = config_.plan.stage;
    if (of_route) of_route->describe(stage, at_end, source, random, out);
    using HostLimits = plan::RatelimitRoute::VirtualHostLimits;
    const HostLimits mode = route_ ? route_->plan.virtual_host_limits : HostLimits::Override;
    const bool counts_host =
        mode == HostLimits::Include || (mode == HostLimits::Override && !of_route);
    if (of_host && counts_host) of_host->describe(stage, at_end, source, random, out);
  }

  // ---- what the service says ----

  void onCallSpan(tracing::CallSpan& span, const calls::CallAnswer& answer) override {
    RatelimitAnswer said;
    if (answer.grpc_status != 0 || !RatelimitAnswer::read(answer.body, &said)) return;
    span.tag("ratelimit_status", said.is_over_limit ? "over_limit" : "ok");
  }

  void onCallEnd(const calls::CallAnswer& answer) override {
    is_asking_ = false;
    if (answer.grpc_status != 0 || !RatelimitAnswer::read(answer.body, &answer_)) {
      answer_ = {};
      return onError();
    }
    takeMetadata();
    if (!answer_.is_over_limit) {
      count(LimitCounter::Ok);
      place_.continueRequest();
      return;
    }
    count(LimitCounter::OverLimit);
    cluster_.countAnswer(static_cast<uint16_t>(config_.plan.status));
    if (!draws(config_.enforced)) {
      place_.continueRequest();
      return;
    }
    is_refused_ = true;
    LocalReply reply{static_cast<uint16_t>(config_.plan.status), answer_.body,
                     "request_rate_limited", format::ResponseFlag::RateLimited};
    if (config_.plan.as_resource_exhausted) reply.grpc_status = kGrpcResourceExhausted;
    place_.answer(reply);
  }

  void onError() {
    count(LimitCounter::Error);
    if (!draws(config_.failure_deny)) {
      count(LimitCounter::FailureModeAllowed);
      place_.continueRequest();
      return;
    }
    has_failed_ = true;
    place_.answer({static_cast<uint16_t>(config_.plan.status_on_error),
                   {},
                   "rate_limiter_error",
                   format::ResponseFlag::RateLimitServiceError});
  }

  void takeMetadata() {
    if (answer_.metadata.empty()) return;
    std::vector<plan::MetadataValue> values;
    if (!format::readStruct(answer_.metadata, &values)) return;
    metadata_.emplace(values);
    scope_.notes.metadata.push_back({config_.plan.name, &*metadata_});
  }

  static void addAll(const RatelimitAnswer::Headers& from, http::HeaderMap& to) {
    for (const auto& [name, value] : from) {
      if (name.starts_with(':') || !isHeaderName(name) || !isHeaderValue(value)) continue;
      to.add(http::internHeader(name), name, value);
    }
  }

  // Answers speak of those descriptors whose limits, or whose filter, want it.
  void tellLimits(http::HeaderMap& headers, Arena& arena) const {
    const RatelimitAnswer::State* least = nullptr;
    std::string windows;
    for (size_t i = 0; i < answer_.states.size(); ++i) {
      const RatelimitAnswer::State& state = answer_.states[i];
      if (!state.has_limit || !isTold(i)) continue;
      if (!least || state.remaining < least->remaining) least = &state;
      if (state.window_s == 0) continue;
      windows.append(", ").append(std::to_string(state.requests_per_unit));
      windows.append(";w=").append(std::to_string(state.window_s));
      if (!state.name.empty()) windows.append(";name=\"").append(state.name).append("\"");
    }
    if (!least) return;
    const auto tell = [&headers](std::string_view name, std::string_view value) {
      headers.add(HeaderId::Other, name, value);
    };
    tell("x-ratelimit-limit", arena.join(arena.decimal(least->requests_per_unit),
                                         isHeaderValue(windows) ? windows : ""));
    tell("x-ratelimit-remaining", arena.decimal(least->remaining));
    tell("x-ratelimit-reset", arena.decimal(least->reset_s));
  }
  bool isTold(size_t descriptor) const {
    const XRateLimit own = descriptor < descriptors_.size() ? descriptors_[descriptor].tells_limit
                                                            : XRateLimit::Unspecified;
    return own == XRateLimit::Unspecified ? config_.plan.tells_limit
                                          : own == XRateLimit::DraftVersion03;
  }

  // ---- the end ----

  bool findLate() const {
    if (const RateLimits* const own = ownLimits()) return own->hasLate();
    return std::ranges::any_of(place_.routeConfigs(), [](const route::FilterConfig* config) {
      const RateLimits* const limits = RateLimits::of(config);
      return limits && limits->hasLate();
    });
  }

  // Some limits count what has become of a request.
  void tellEnd() const {
    format::FormatContext context;
    place_.describe(&context);
    if (!context.request_headers) return;
    const route::RequestView view{context.method,          context.path,
                                  context.authority,       context.scheme,
                                  context.request_headers, scope_.stream_id};
    std::vector<Descriptor> descriptors;
    describe(view, context, true, &descriptors);
    if (descriptors.empty()) return;
    scope_.calls->tellGrpc(config_.service, kRatelimitMethod,
                           ratelimitRequest(domain(), descriptors, hitsOf(context)), &context);
  }

  // ---- counting ----

  void count(LimitCounter counter) const {
    config_.counts->add(scope_.worker, cluster_->observabilityName(), counter);
  }

  const RatelimitConfig& config_;
  const FilterScope& scope_;
  FilterPlace& place_;
  // Something counts at the end of the request.
  bool has_late_ = false;
  calls::Call call_;
  // Null: the route says nothing.
  const RatelimitRoute* route_ = nullptr;
  ChargedCluster cluster_;
  std::vector<Descriptor> descriptors_;
  RatelimitAnswer answer_;
  std::optional<format::FilterMetadata> metadata_;
  bool is_limited_ = false;
  bool is_asking_ = false;
  bool is_refused_ = false;
  bool has_failed_ = false;
};

RuntimeNumber shareFrom(const Boxed<plan::Share>& share, uint64_t otherwise, RuntimeSlots& slots) {
  return share ? RuntimeNumber(share->millionths, share->slot, &slots)
               : RuntimeNumber(otherwise, 0, nullptr);
}

}  // namespace

Result<std::unique_ptr<const RatelimitRoute>> RatelimitRoute::build(
    const plan::RatelimitRoute& plan, RuntimeSlots& slots) {
  auto route = std::make_unique<RatelimitRoute>();
  if (plan.limits) {
    Result<std::unique_ptr<const RateLimits>> limits = RateLimits::build(*plan.limits, slots);
    if (!limits) return limits.error();
    route->limits = std::move(limits.value());
  }
  route->plan = plan;
  route->plan.limits.reset();
  return std::unique_ptr<const RatelimitRoute>(std::move(route));
}

BuiltFilter RatelimitConfig::build(const plan::Ratelimit& plan, const ConfigScope& scope) {
  constexpr uint64_t kAll = 1'000'000;
  auto config = std::make_shared<RatelimitConfig>();
  Result<std::unique_ptr<const calls::Service>> service = calls::Service::build(
      plan.service.value_or(plan::Service()), scope.clusters, &scope.registry);
  if (!service) return service.error();
  config->service = std::move(service.value());
  config->enabled = shareFrom(plan.enabled, kAll, scope.slots);
  config->enforced = shareFrom(plan.enforced, kAll, scope.slots);
  config->failure_deny =
      shareFrom(plan.failure_deny_share, plan.failure_mode_deny ? kAll : 0, scope.slots);
  config->response_headers = route::MutationList({}, plan.response_add, http::isJoinedInResponses);
  if (plan.own_limits) {
    Result<std::unique_ptr<const RateLimits>> limits =
        RateLimits::build(*plan.own_limits, scope.slots);
    if (!limits) return limits.error();
    config->own_limits = std::move(limits.value());
  }
  std::string part = "ratelimit.";
  if (!plan.stat_prefix.empty()) part.append(plan.stat_prefix).append(".");
  config->counts = std::make_shared<ClusterCounts<stats::ClusterRatelimit>>(
      scope.workers,
      [part](const stats::Scope& cluster) { return stats::innerScope(cluster, part); });
  scope.late_counts.add(config->counts);
  config->plan = plan;
  return std::shared_ptr<const HttpFilterConfig>(std::move(config));
}

HttpFilter* RatelimitConfig::make(FilterMemory& memory, const FilterScope& scope,
                                  FilterPlace& place) const {
  return memory.make<Ratelimit>(*this, scope, place);
}

}  // namespace fairlead::filters
