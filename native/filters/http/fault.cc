#include "filters/http/fault.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "filters/http/fault_headers.h"
#include "filters/http/rate_limiter.h"

namespace fairlead::filters {

namespace {

using FaultCounter = stats::HttpFault::Counter;
using Flag = format::ResponseFlag;
using FaultGauge = stats::HttpFault::Gauge;
using http::HeaderId;

// Longer than any request waits.
constexpr uint64_t kMaxDelayMs = uint64_t{1} << 40;

bool isStatus(uint64_t status) { return status >= 200 && status < 600; }

// Of one request.
class Fault final : public HttpFilter, private net::Timer {
 public:
  Fault(const FaultConfig& config, const FaultSettings& settings, FilterMemory& memory,
        const FilterScope& scope, FilterPlace& place)
      : config_(config),
        settings_(settings),
        memory_(memory),
        scope_(scope),
        place_(place),
        stats_(config.stats(scope.worker)) {}

  FilterStatus onRequestHead(http::RequestHead& head, const route::RequestView& view,
                             bool) override {
    if (!settings_.fits(view, clusterOf(view))) return FilterStatus::Continue;
    const http::HeaderEntry* cluster = head.headers.find(HeaderId::XEnvoyDownstreamServiceCluster);
    if (cluster && !cluster->value().empty()) {
      downstream_cluster_ = memory_.keep(cluster->value());
      own_ = config_.numbersOf(scope_.worker, downstream_cluster_);
    }
    readAbort(head.headers);
    limitAnswer(head.headers);
    if (delays(head.headers)) return FilterStatus::Pause;
    return aborts() && becomeActive() ? abort() : FilterStatus::Continue;
  }
  FilterStatus onRequestData(std::string_view, bool) override { return whileDelayed(); }
  FilterStatus onRequestTrailers(http::HeaderMap&) override { return whileDelayed(); }

  FilterStatus onResponseData(std::string_view data, bool end) override {
    if (!limiter_) return FilterStatus::Continue;
    limiter_->take(data, end);
    return FilterStatus::Take;
  }
  FilterStatus onResponseTrailers(http::HeaderMap&) override {
    return limiter_ && limiter_->holdsTrailers() ? FilterStatus::Pause : FilterStatus::Continue;
  }

  LocalReply answer() const override { return answer_; }
  void onEnd() override { becomeInactive(); }

 private:
  using Number = std::optional<uint64_t>;

  // net::Timer
  void onTimer() override {
    is_delayed_ = false;
    if (aborts()) {
      abort();
      place_.answer(answer_);
      return;
    }
    // A fault that is yet to come goes on counting.
    if (!settings_.plan.response_rate) becomeInactive();
    place_.continueRequest();
  }

  FilterStatus whileDelayed() const {
    return is_delayed_ ? FilterStatus::Pause : FilterStatus::Continue;
  }

  std::string_view clusterOf(const route::RequestView& view) const {
    if (settings_.plan.upstream_cluster.empty()) return {};
    if (!scope_.route || !scope_.route->cluster) return {};
    const route::Target& target = scope_.route->cluster->pick(view);
    if (target.cluster) return target.cluster.name();
    std::string_view name;
    return view.header(target.cluster_header, &name) ? name : std::string_view();
  }

  static Number numberOf(const http::HeaderMap& headers, std::string_view name, uint64_t most) {
    const http::HeaderEntry* header = headers.find(name);
    return header ? faultNumber(header->value(), most) : std::nullopt;
  }

  bool draw(uint64_t millionths) const {
    return scope_.clusters.context().random.draws(millionths);
  }
  // A request of a named cluster follows that cluster's key in place of the general one.
  bool draw(const FaultSettings::Share& share, Number asked, Number own) const {
    return draw(followed(share.ofRequest(asked), share.override, own));
  }
  uint64_t followed(uint64_t configured, const RuntimeOverride& general, Number own) const {
    return downstream_cluster_.empty() ? general.over(configured) : own.value_or(configured);
  }

  bool delays(const http::HeaderMap& headers) {
    const auto& plan = settings_.plan.delay;
    if (!plan) return false;
    const Number asked =
        plan->fixed_ms
            ? std::nullopt
            : numberOf(headers, http::ownHeader("fault-delay-request-percentage"), UINT32_MAX);
    if (!draw(settings_.delay_share, asked, own_.delay_share)) return false;
    const Number wanted =
        plan->fixed_ms ? plan->fixed_ms
                       : numberOf(headers, http::ownHeader("fault-delay-request"), UINT64_MAX);
    if (!wanted) return false;
    const uint64_t ms = own_.delay_ms.value_or(settings_.delay_ms.over(*wanted));
    if (ms == 0 || !becomeActive()) return false;
    is_delayed_ = true;
    stats_.add(FaultCounter::DelaysInjected);
    if (countsByCluster()) config_.byCluster().addDelay(scope_.worker, downstream_cluster_);
    scope_.notes.flags.set(Flag::DelayInjected);
    setMetadata();
    place_.loop().timers().arm(this, scope_.now + std::min(ms, kMaxDelayMs));
    return true;
  }

  // The head may be gone when it is decided.
  void readAbort(const http::HeaderMap& headers) {
    const auto& plan = settings_.plan.abort;
    if (!plan) return;
    if (!plan->body.empty()) answer_.body = plan->body;
    if (plan->http_status || plan->grpc_status) {
      if (plan->http_status) http_status_ = *plan->http_status;
      if (plan->grpc_status) grpc_status_ = *plan->grpc_status;
      return;
    }
    asked_abort_share_ =
        numberOf(headers, http::ownHeader("fault-abort-request-percentage"), UINT32_MAX);
    http_status_ = numberOf(headers, http::ownHeader("fault-abort-request"), UINT64_MAX);
    if (http_status_ && !isStatus(*http_status_)) http_status_ = std::nullopt;
    grpc_status_ = numberOf(headers, http::ownHeader("fault-abort-grpc-request"), UINT64_MAX);
  }

  // Whether and how is said by answer_ then.
  bool aborts() {
    if (!settings_.plan.abort ||
        !draw(settings_.abort_share, asked_abort_share_, own_.abort_share)) {
      return false;
    }
    if (http_status_) {
      const uint64_t status = followed(*http_status_, settings_.http_status, own_.http_status);
      answer_.status = static_cast<uint16_t>(isStatus(status) ? status : *http_status_);
      return true;
    }
    if (!grpc_status_) return false;
    const uint64_t status = followed(*grpc_status_, settings_.grpc_status, own_.grpc_status);
    answer_.status = 200;
    answer_.grpc_status = static_cast<uint32_t>(status);
    return true;
  }
  void setMetadata() {
    if (settings_.metadata.isEmpty() || std::exchange(has_metadata_, true)) return;
    scope_.notes.metadata.push_back({config_.name(), &settings_.metadata});
  }
  bool countsByCluster() const {
    return !downstream_cluster_.empty() && !settings_.plan.disable_downstream_cluster_stats;
  }
  FilterStatus abort() {
    stats_.add(FaultCounter::AbortsInjected);
    setMetadata();
    if (countsByCluster()) config_.byCluster().addAbort(scope_.worker, downstream_cluster_);
    return FilterStatus::Answer;
  }

  void limitAnswer(const http::HeaderMap& headers) {
    const auto& plan = settings_.plan.response_rate;
    if (!plan) return;
    const Number asked =
        plan->fixed_kbps > 0
            ? std::nullopt
            : numberOf(headers, http::ownHeader("fault-throughput-response-percentage"),
                       UINT32_MAX);
    if (!draw(settings_.rate_share.override.over(settings_.rate_share.ofRequest(asked)))) return;
    const Number kbps =
        plan->fixed_kbps > 0
            ? plan->fixed_kbps
            : numberOf(headers, http::ownHeader("fault-throughput-response"), UINT64_MAX);
    if (!kbps || *kbps == 0 || !becomeActive()) return;
    stats_.add(FaultCounter::ResponseRlInjected);
    scope_.notes.sees_response_body = true;
    limiter_.emplace(place_, std::min(*kbps, UINT64_MAX / 1024) * 1024);
  }

  // All faults of a request count as one. False: there are too many.
  bool becomeActive() {
    if (is_active_) return true;
    const uint64_t most =
        settings_.max_active.over(settings_.plan.max_active_faults.value_or(UINT64_MAX));
    if (config_.active().load(std::memory_order_relaxed) >= most) {
      stats_.add(FaultCounter::FaultsOverflow);
      return false;
    }
    is_active_ = true;
    config_.active().fetch_add(1, std::memory_order_relaxed);
    stats_.up(FaultGauge::ActiveFaults);
    return true;
  }
  void becomeInactive() {
    if (!is_active_) return;
    is_active_ = false;
    config_.active().fetch_sub(1, std::memory_order_relaxed);
    stats_.down(FaultGauge::ActiveFaults);
  }

  const FaultConfig& config_;
  const FaultSettings& settings_;
  FilterMemory& memory_;
  const FilterScope& scope_;
  FilterPlace& place_;
  stats::Shard<stats::HttpFault>& stats_;
  // Empty: the request does not say.
  std::string_view downstream_cluster_;
  // What runtime keys that name it say.
  FaultNumbers own_;
  // What the configuration or the request's headers want.
  Number asked_abort_share_;
  Number http_status_;
  Number grpc_status_;
  LocalReply answer_{200, "fault filter abort", "fault_filter_abort", Flag::FaultInjected};
  std::optional<RateLimiter> limiter_;
  bool has_metadata_ = false;
  bool is_delayed_ = false;
  bool is_active_ = false;
};

}  // namespace

BuiltFilter FaultConfig::build(const std::string& name, const plan::FaultSettings& plan,
                               const ConfigScope& scope) {
  auto config = std::make_shared<FaultConfig>();
  config->name_ = name;
  auto settings = FaultSettings::build(plan, scope.slots);
  if (!settings) return settings.error();
  config->settings_.reset(FaultSettings::of(settings.value().release()));
  config->stats_ = scope.registry.create<stats::HttpFault>(innerScope(scope.stats, "fault."));
  config->by_cluster_ = std::make_shared<FaultsByCluster>(scope.workers, scope.stats);
  config->faults_ = &scope.faults;
  config->runtimes_.resize(scope.workers);
  scope.faults.add(config->by_cluster_);
  return std::shared_ptr<const HttpFilterConfig>(std::move(config));
}

HttpFilter* FaultConfig::make(FilterMemory& memory, const FilterScope& scope,
                              FilterPlace& place) const {
  const FaultSettings* settings = settings_.get();
  const route::FilterConfigList own = place.routeConfigs();
  if (!own.empty() && FaultSettings::of(own.front())) settings = FaultSettings::of(own.front());
  return memory.make<Fault>(*this, *settings, memory, scope, place);
}

}  // namespace fairlead::filters
