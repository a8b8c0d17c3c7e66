#include "filters/http/bandwidth_limit.h"

#include <optional>
#include <utility>

#include "filters/http/kept_trailers.h"
#include "filters/http/paced_body.h"
#include "net/loop.h"
#include "stats/scopes.h"

namespace fairlead::filters {

namespace {

using BandwidthCounter = stats::HttpBandwidthLimit::Counter;
using BandwidthGauge = stats::HttpBandwidthLimit::Gauge;
using BandwidthHistogram = stats::HttpBandwidthLimit::Histogram;

// What is counted of one side of requests.
struct SideStats {
  BandwidthCounter enabled;
  BandwidthCounter enforced;
  BandwidthCounter incoming_total;
  BandwidthCounter allowed_total;
  BandwidthGauge pending;
  BandwidthGauge incoming;
  BandwidthGauge allowed;
  BandwidthHistogram duration;
};

constexpr SideStats kRequestStats = {BandwidthCounter::RequestEnabled,
                                     BandwidthCounter::RequestEnforced,
                                     BandwidthCounter::RequestIncomingTotalSize,
                                     BandwidthCounter::RequestAllowedTotalSize,
                                     BandwidthGauge::RequestPending,
                                     BandwidthGauge::RequestIncomingSize,
                                     BandwidthGauge::RequestAllowedSize,
                                     BandwidthHistogram::RequestTransferDuration};
constexpr SideStats kResponseStats = {BandwidthCounter::ResponseEnabled,
                                      BandwidthCounter::ResponseEnforced,
                                      BandwidthCounter::ResponseIncomingTotalSize,
                                      BandwidthCounter::ResponseAllowedTotalSize,
                                      BandwidthGauge::ResponsePending,
                                      BandwidthGauge::ResponseIncomingSize,
                                      BandwidthGauge::ResponseAllowedSize,
                                      BandwidthHistogram::ResponseTransferDuration};

// One body of a request, or of its answer.
class LimitedSide final : public PacedBody::Owner {
 public:
  LimitedSide(const BandwidthSettings& settings, unsigned worker, FilterPlace& place,
              PacedBody::Side side, const SideStats& names)
      : settings_(settings),
        stats_(*settings.stats->shard(worker + 1)),
        names_(names),
        place_(place),
        body_(place, side, *this, *settings.bucket, settings.plan.fill_interval_ms) {
    stats_.add(names_.enabled);
  }
  ~LimitedSide() {
    if (is_pending_) stats_.down(names_.pending);
  }

  void take(std::string_view data, bool end) {
    if (!std::exchange(has_begun_, true)) {
      begun_us_ = place_.loop().nowMicros();
      is_pending_ = true;
      stats_.up(names_.pending);
    }
    settings_.gauges->set(names_.incoming, data.size());
    stats_.add(names_.incoming_total, data.size());
    body_.take(data, end);
  }
  // As PacedBody has it.
  bool holdsTrailers() {
    if (body_.holdsTrailers()) return true;
    finish();
    return false;
  }
  void addTrailersOfItsOwn() { adds_trailers_ = true; }

  uint64_t durationMs() const { return duration_ms_; }
  uint64_t delayMs() const { return delay_ms_; }

 private:
  void onPaced(uint64_t bytes, uint64_t left) override {
    settings_.gauges->set(names_.allowed, bytes);
    stats_.add(names_.allowed_total, bytes);
    if (left == 0) return;
    stats_.add(names_.enforced);
    delay_ms_ += settings_.plan.fill_interval_ms;
  }
  bool onPacedEnd() override {
    finish();
    return adds_trailers_;
  }
  void finish() {
    if (!std::exchange(is_pending_, false)) return;
    duration_ms_ = (place_.loop().nowMicros() - begun_us_) / 1000;
    stats_.record(names_.duration, duration_ms_);
    stats_.down(names_.pending);
  }

  const BandwidthSettings& settings_;
  stats::Shard<stats::HttpBandwidthLimit>& stats_;
  const SideStats& names_;
  FilterPlace& place_;
  uint64_t begun_us_ = 0;
  uint64_t duration_ms_ = 0;
  // The filter's doing.
  uint64_t delay_ms_ = 0;
  bool has_begun_ = false;
  bool is_pending_ = false;
  bool adds_trailers_ = false;
  PacedBody body_;
};

// Of one request.
class BandwidthLimit final : public HttpFilter {
 public:
  BandwidthLimit(const BandwidthSettings& settings, FilterMemory& memory, const FilterScope& scope,
                 FilterPlace& place)
      : settings_(settings), memory_(memory), scope_(scope), place_(place) {}

  FilterStatus onRequestHead(http::RequestHead&, const route::RequestView&, bool) override {
    if (settings_.plan.limits_request) {
      request_.emplace(settings_, scope_.worker, place_, PacedBody::Side::Request, kRequestStats);
    }
    return FilterStatus::Continue;
  }
  FilterStatus onRequestData(std::string_view data, bool end) override {
    if (!request_) return FilterStatus::Continue;
    request_->take(data, end);
    return FilterStatus::Take;
  }
  FilterStatus onRequestTrailers(http::HeaderMap&) override {
    return request_ && request_->holdsTrailers() ? FilterStatus::Pause : FilterStatus::Continue;
  }

  FilterStatus onResponseHead(uint16_t, http::HeaderMap&, bool, Arena&) override {
    if (settings_.plan.limits_response) {
      response_.emplace(settings_, scope_.worker, place_, PacedBody::Side::Response,
                        kResponseStats);
      scope_.notes.sees_response_body = true;
    }
    return FilterStatus::Continue;
  }
  FilterStatus onResponseData(std::string_view data, bool end) override {
    if (!response_) return FilterStatus::Continue;
    if (end && settings_.plan.adds_trailers) response_->addTrailersOfItsOwn();
    response_->take(data, end);
    return FilterStatus::Take;
  }
  FilterStatus onResponseTrailers(http::HeaderMap& trailers) override {
    if (!response_) return FilterStatus::Continue;
    if (!response_->holdsTrailers()) {
      if (settings_.plan.adds_trailers) tellTimes(trailers, memory_.arena());
      return FilterStatus::Continue;
    }
    if (!settings_.plan.adds_trailers) return FilterStatus::Pause;
    trailers_.keep(trailers, memory_);
    response_->addTrailersOfItsOwn();
    return FilterStatus::Take;
  }
  bool addTrailers(http::HeaderMap& trailers, Arena& arena) const override {
    trailers_.addTo(trailers);
    tellTimes(trailers, arena);
    return true;
  }

 private:
  void tellTimes(http::HeaderMap& trailers, Arena& arena) const {
    const auto tell = [&](const std::string& name, uint64_t ms) {
      if (ms > 0) trailers.add(http::HeaderId::Other, name, arena.decimal(ms));
    };
    if (request_) {
      tell(settings_.request_duration_name, request_->durationMs());
      tell(settings_.request_delay_name, request_->delayMs());
    }
    tell(settings_.response_duration_name, response_->durationMs());
    tell(settings_.response_delay_name, response_->delayMs());
  }

  const BandwidthSettings& settings_;
  FilterMemory& memory_;
  const FilterScope& scope_;
  FilterPlace& place_;
  std::optional<LimitedSide> request_;
  std::optional<LimitedSide> response_;
  KeptTrailers trailers_;
};

}  // namespace

void BandwidthGauges::publish() {
  for (size_t i = 0; i < static_cast<size_t>(Gauge::kCount); ++i) {
    const uint64_t value = values_[i].load(std::memory_order_relaxed);
    if (value != kUnset) stats_->setOwn(i, value);
  }
}

std::unique_ptr<const BandwidthSettings> BandwidthSettings::build(const plan::BandwidthLimit& plan,
                                                                  const RouteScope& scope) {
  auto settings = std::make_unique<BandwidthSettings>();
  settings->plan = plan;
  settings->enabled = plan.enabled
                          ? RuntimeNumber(plan.enabled->value, plan.enabled->slot, &scope.slots)
                          : RuntimeNumber(1, 0, nullptr);
  if (plan.limit_kbps > 0) {
    settings->bucket =
        std::make_unique<ByteBucket>(std::min<uint64_t>(plan.limit_kbps, UINT64_MAX / 1024) * 1024,
                                     net::Loop::readClockMicros());
  }
  settings->stats = scope.registry.create<stats::HttpBandwidthLimit>(
      stats::plainScope(plan.stat_prefix + ".http_bandwidth_limit."));
  settings->gauges = std::make_shared<BandwidthGauges>(settings->stats);
  scope.publishers.add(settings->gauges);
  const std::string prefix = plan.trailer_prefix + "bandwidth-";
  settings->request_duration_name = prefix + "request-delay-ms";
  settings->request_delay_name = prefix + "request-filter-delay-ms";
  settings->response_duration_name = prefix + "response-delay-ms";
  settings->response_delay_name = prefix + "response-filter-delay-ms";
  return settings;
}

BuiltFilter BandwidthLimitConfig::build(const plan::BandwidthLimit& plan,
                                        const ConfigScope& scope) {
  auto config = std::make_shared<BandwidthLimitConfig>();
  config->settings_ = BandwidthSettings::build(plan, RouteScope::of(scope));
  return std::shared_ptr<const HttpFilterConfig>(std::move(config));
}

HttpFilter* BandwidthLimitConfig::make(FilterMemory& memory, const FilterScope& scope,
                                       FilterPlace& place) const {
  const BandwidthSettings* settings = settings_.get();
  const route::FilterConfigList own = place.routeConfigs();
  if (!own.empty() && BandwidthSettings::of(own.front())) {
    settings = BandwidthSettings::of(own.front());
  }
  if (settings->enabled.value() == 0 || !settings->bucket) return nullptr;
  return memory.make<BandwidthLimit>(*settings, memory, scope, place);
}

}  // namespace fairlead::filters
