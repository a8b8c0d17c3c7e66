#include "filters/http/local_ratelimit.h"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "http/joined_headers.h"
#include "net/loop.h"
#include "stats/filter_scopes.h"

namespace fairlead::filters {

namespace {

using RatelimitCounter = stats::HttpLocalRateLimit::Counter;

constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr uint32_t kResourceExhausted = 8;
constexpr uint32_t kTooManyRequests = 429;

// Of one request.
class LocalRatelimit final : public HttpFilter {
 public:
  LocalRatelimit(const RatelimitSettings& settings, FilterMemory& memory, const FilterScope& scope,
                 FilterPlace& place)
      : settings_(settings), memory_(memory), scope_(scope), place_(place) {}

  FilterStatus onRequestHead(http::RequestHead& head, const route::RequestView& view,
                             bool) override {
    if (!draws(settings_.enabled)) return FilterStatus::Continue;
    count(RatelimitCounter::Enabled);
    LocalBuckets::Verdict verdict = ask(view);
    decided_by_ = verdict.by;
    kept_ = std::move(verdict.kept);
    tells_limit_ = verdict.tells_limit;
    if (verdict.passes && !verdict.is_shadow) {
      count(RatelimitCounter::Ok);
      return FilterStatus::Continue;
    }
    count(RatelimitCounter::RateLimited);
    if (verdict.is_shadow) {
      count(RatelimitCounter::ShadowMode);
      return FilterStatus::Continue;
    }
    if (!draws(settings_.enforced)) {
      if (!settings_.request_headers.empty()) addToRequest(head.headers);
      return FilterStatus::Continue;
    }
    count(RatelimitCounter::Enforced);
    is_refused_ = true;
    return FilterStatus::Answer;
  }

  LocalReply answer() const override {
    LocalReply reply{static_cast<uint16_t>(settings_.plan.status), "local_rate_limited",
                     "local_rate_limited", format::ResponseFlag::RateLimited};
    if (settings_.plan.as_resource_exhausted) reply.grpc_status = kResourceExhausted;
    return reply;
  }

  FilterStatus onResponseHead(uint16_t, http::HeaderMap& headers, bool, Arena& arena) override {
    if (is_refused_ && decided_by_ && settings_.plan.tells_retry_after &&
        settings_.plan.status == kTooManyRequests) {
      headers.add(http::HeaderId::Other, "retry-after", arena.decimal(secondsLeft()));
    }
    if (is_refused_ && !settings_.response_headers.empty()) {
      format::FormatContext context;
      place_.describe(&context);
      // The real server makes them before there is an answer.
      context.status = 0;
      settings_.response_headers.apply(headers, context, arena);
    }
    if (decided_by_ && tellsLimit()) tellLimit(headers, arena);
    return FilterStatus::Continue;
  }

 private:
  bool draws(const RuntimeNumber& share) const {
    return scope_.clusters.context().random.draws(share.value());
  }
  void count(RatelimitCounter counter) const {
    settings_.stats->shard(scope_.worker + 1)->add(counter);
  }

  LocalBuckets::Verdict ask(const route::RequestView& view) {
    const uint64_t now_us = place_.loop().nowMicros();
    std::vector<Descriptor> descriptors;
    if (!settings_.plan.descriptors.empty()) describe(view, &descriptors);
    if (!settings_.plan.per_connection) {
      return settings_.buckets->take(descriptors, now_us, shares());
    }
    std::shared_ptr<void>& kept = place_.keptByConnection(settings_.number);
    if (!kept) kept = LocalBuckets::build(settings_.plan, now_us).value();
    return static_cast<LocalBuckets*>(kept.get())->take(descriptors, now_us);
  }

  // Of how many this is one.
  uint64_t shares() const {
    if (!settings_.shared_by) return 1;
    const upstream::HostSet* const hosts = scope_.clusters.hosts(settings_.shared_by.id());
    return hosts ? std::max<uint64_t>(hosts->hosts().size(), 1) : 1;
  }

  void describe(const route::RequestView& view, std::vector<Descriptor>* out) const {
    format::FormatContext context;
    place_.describe(&context);
    const DescriptorSource source{view, context, context.downstream_remote, clusterOf(view)};
    const uint32_t stage = settings_.plan.stage;
    if (settings_.own_limits) {
      settings_.own_limits->describe(std::nullopt, false, source, scope_.clusters.context().random,
                                     out);
      return;
    }
    const RateLimits* of_route = nullptr;
    const RateLimits* of_host = nullptr;
    for (const route::FilterConfig* config : place_.routeConfigs()) {
      const RateLimits* limits = RateLimits::of(config);
      if (limits) (limits->isOfVirtualHost() ? of_host : of_route) = limits;
    }
    if (of_route) of_route->append(stage, source, out);
    using HostLimits = plan::LocalRatelimit::VirtualHostLimits;
    const HostLimits mode = settings_.plan.virtual_host_limits;
    const bool counts_host =
        mode == HostLimits::Include || (mode == HostLimits::Override && !of_route);
    if (of_host && counts_host) of_host->append(stage, source, out);
  }

  std::string_view clusterOf(const route::RequestView& view) const {
    if (!scope_.route || !scope_.route->cluster) return {};
    const route::Target& target = scope_.route->cluster->pick(view);
    if (target.cluster) return target.cluster.name();
    std::string_view name;
    return view.header(target.cluster_header, &name) ? name : std::string_view();
  }

  void addToRequest(http::HeaderMap& headers) {
    format::FormatContext context;
    place_.describe(&context);
    settings_.request_headers.apply(headers, context, memory_.arena());
  }

  bool tellsLimit() const {
    using Tells = plan::RateLimit::XRateLimit;
    if (tells_limit_ == Tells::Unspecified) return settings_.plan.tells_limit;
    return tells_limit_ == Tells::DraftVersion03;
  }
  void tellLimit(http::HeaderMap& headers, Arena& arena) const {
    const uint64_t now_us = place_.loop().nowMicros();
    const auto tell = [&](std::string_view name, uint64_t value) {
      headers.add(http::HeaderId::Other, name, arena.decimal(value));
    };
    tell("x-ratelimit-limit", decided_by_->maxTokens());
    tell("x-ratelimit-remaining", decided_by_->remaining(now_us));
    tell("x-ratelimit-reset", secondsLeft());
  }
  // Until there is a token.
  uint64_t secondsLeft() const {
    return (decided_by_->nextAfterNs(place_.loop().nowMicros()) + kSecondNs - 1) / kSecondNs;
  }

  const RatelimitSettings& settings_;
  FilterMemory& memory_;
  const FilterScope& scope_;
  FilterPlace& place_;
  // Null: nothing is said of it.
  const TokenBucket* decided_by_ = nullptr;
  // Holds it, where its limit might let go of it.
  std::shared_ptr<const TokenBucket> kept_;
  plan::RateLimit::XRateLimit tells_limit_ = plan::RateLimit::XRateLimit::Unspecified;
  bool is_refused_ = false;
};

RuntimeNumber shareOf(const Boxed<plan::Share>& share, RuntimeSlots& slots) {
  return share ? RuntimeNumber(share->millionths, share->slot, &slots)
               : RuntimeNumber(0, 0, nullptr);
}

}  // namespace

Result<std::unique_ptr<const RatelimitSettings>> RatelimitSettings::build(
    const plan::LocalRatelimit& plan, const RouteScope& scope) {
  static std::atomic<uint64_t> last_number{0};
  auto settings = std::make_unique<RatelimitSettings>();
  settings->plan = plan;
  settings->number = ++last_number;
  settings->enabled = shareOf(plan.enabled, scope.slots);
  settings->enforced = shareOf(plan.enforced, scope.slots);
  settings->response_headers =
      route::MutationList({}, plan.response_add, http::isJoinedInResponses);
  settings->request_headers = route::MutationList({}, plan.request_add, http::isJoinedInRequests);
  if (plan.own_limits) {
    Result<std::unique_ptr<const RateLimits>> limits =
        RateLimits::build(*plan.own_limits, scope.slots);
    if (!limits) return limits.error();
    settings->own_limits = std::move(limits.value());
  }
  Result<std::shared_ptr<LocalBuckets>> buckets =
      LocalBuckets::build(plan, net::Loop::readClockMicros());
  if (!buckets) return buckets.error();
  settings->buckets = std::move(buckets.value());
  if (!plan.shared_by.empty()) settings->shared_by = scope.clusters.hold(plan.shared_by);
  settings->stats = scope.registry.create<stats::HttpLocalRateLimit>(
      stats::httpLocalRateLimitScope(plan.stat_prefix));
  return std::unique_ptr<const RatelimitSettings>(std::move(settings));
}

BuiltFilter LocalRatelimitConfig::build(const plan::LocalRatelimit& plan,
                                        const ConfigScope& scope) {
  auto config = std::make_shared<LocalRatelimitConfig>();
  Result<std::unique_ptr<const RatelimitSettings>> settings =
      RatelimitSettings::build(plan, RouteScope::of(scope));
  if (!settings) return settings.error();
  config->settings_ = std::move(settings.value());
  return std::shared_ptr<const HttpFilterConfig>(std::move(config));
}

HttpFilter* LocalRatelimitConfig::make(FilterMemory& memory, const FilterScope& scope,
                                       FilterPlace& place) const {
  const RatelimitSettings* settings = settings_.get();
  for (const route::FilterConfig* own : place.routeConfigs()) {
    if (!RatelimitSettings::of(own)) continue;
    settings = RatelimitSettings::of(own);
    break;
  }
  if (settings->enabled.value() == 0) return nullptr;
  return memory.make<LocalRatelimit>(*settings, memory, scope, place);
}

}  // namespace fairlead::filters
