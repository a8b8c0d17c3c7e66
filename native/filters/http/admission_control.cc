#include "filters/http/admission_control.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "format/grpc_status.h"
#include "stats/scopes.h"

namespace fairlead::filters {

namespace {

using AdmissionCounter = stats::HttpAdmissionControl::Counter;

constexpr net::Millis kSecondMs = 1000;
// Of the likelihood to be turned away.
constexpr uint64_t kAccuracy = 10'000;

// Of one request.
class AdmissionControl final : public HttpFilter {
 public:
  AdmissionControl(const AdmissionControlConfig& config, const FilterScope& scope,
                   FilterPlace& place)
      : config_(config), scope_(scope), place_(place) {
    // The numbers are shown from the first request on.
    config_.stats(scope.worker).add(AdmissionCounter::RqSuccess, 0);
  }

  FilterStatus onRequestHead(http::RequestHead&, const route::RequestView&, bool) override {
    if (!config_.isEnabled() || scope_.notes.is_health_check) {
      is_recorded_ = false;
      return FilterStatus::Continue;
    }
    AdmissionHistory& history = config_.history(scope_.worker);
    if (history.averageRps(scope_.now) < config_.rpsThreshold()) return FilterStatus::Continue;
    const double rejection = config_.rejection(history.counts(scope_.now));
    const uint64_t draw = scope_.clusters.context().random.below(kAccuracy);
    if (!(static_cast<double>(kAccuracy) * rejection > static_cast<double>(draw))) {
      return FilterStatus::Continue;
    }
    // What is turned away says nothing of hosts.
    is_recorded_ = false;
    config_.stats(scope_.worker).add(AdmissionCounter::RqRejected);
    return FilterStatus::Answer;
  }
  LocalReply answer() const override { return {503, {}, "denied_by_admission_control"}; }

  FilterStatus onResponseHead(uint16_t status, http::HeaderMap& headers, bool end,
                              Arena&) override {
    if (!is_recorded_) return FilterStatus::Continue;
    const http::HeaderEntry* const type = headers.find(http::HeaderId::ContentType);
    const http::HeaderEntry* const grpc = headers.find(http::HeaderId::GrpcStatus);
    const bool is_grpc =
        end ? grpc != nullptr : status == 200 && type && format::isGrpcContentType(type->value());
    if (!is_grpc) {
      record(config_.isHttpSuccess(status));
    } else if (grpc) {
      record(isSuccess(*grpc));
    } else {
      awaits_trailers_ = true;
    }
    return FilterStatus::Continue;
  }
  FilterStatus onResponseTrailers(http::HeaderMap& trailers) override {
    if (!awaits_trailers_) return FilterStatus::Continue;
    const http::HeaderEntry* const grpc = trailers.find(http::HeaderId::GrpcStatus);
    record(grpc && isSuccess(*grpc));
    return FilterStatus::Continue;
  }

 private:
  bool isSuccess(const http::HeaderEntry& status) const {
    uint64_t number = 0;
    return parseSpokenNumber(status.value(), &number) && config_.isGrpcSuccess(number);
  }
  void record(bool is_success) {
    awaits_trailers_ = false;
    config_.history(scope_.worker).add(is_success, place_.loop().now());
    config_.stats(scope_.worker)
        .add(is_success ? AdmissionCounter::RqSuccess : AdmissionCounter::RqFailure);
  }

  const AdmissionControlConfig& config_;
  const FilterScope& scope_;
  FilterPlace& place_;
  bool is_recorded_ = true;
  bool awaits_trailers_ = false;
};

RuntimeNumber numberOf(const Boxed<plan::LiveNumber>& plan, const ConfigScope& scope) {
  return plan ? RuntimeNumber(plan->value, plan->slot, &scope.slots) : RuntimeNumber();
}

}  // namespace

// ---- what has been seen ----

void AdmissionHistory::update(net::Millis now) {
  while (!seconds_.empty() && now - seconds_.front().begin >= window_ms_) {
    all_.requests -= seconds_.front().counts.requests;
    all_.successes -= seconds_.front().counts.successes;
    seconds_.pop_front();
  }
  if (seconds_.empty() || now - seconds_.back().begin >= kSecondMs) seconds_.push_back({now, {}});
}

void AdmissionHistory::add(bool is_success, net::Millis now) {
  update(now);
  for (Counts* counts : {&seconds_.back().counts, &all_}) {
    ++counts->requests;
    if (is_success) ++counts->successes;
  }
}

const AdmissionHistory::Counts& AdmissionHistory::counts(net::Millis now) {
  update(now);
  return all_;
}

uint64_t AdmissionHistory::averageRps(net::Millis now) {
  update(now);
  if (all_.requests == 0) return 0;
  const net::Millis age = std::clamp<net::Millis>(now - seconds_.front().begin, kSecondMs,
                                                  std::max(window_ms_, kSecondMs));
  return all_.requests / (age / kSecondMs);
}

// ---- the configuration ----

BuiltFilter AdmissionControlConfig::build(const plan::AdmissionControl& plan,
                                          const ConfigScope& scope) {
  auto config = std::make_shared<AdmissionControlConfig>();
  config->plan_ = plan;
  config->enabled_ = numberOf(plan.enabled, scope);
  config->aggression_ = numberOf(plan.aggression, scope);
  config->success_threshold_ = numberOf(plan.success_threshold, scope);
  config->max_rejection_ = numberOf(plan.max_rejection, scope);
  config->rps_threshold_ = numberOf(plan.rps_threshold, scope);
  config->stats_ = scope.registry.create<stats::HttpAdmissionControl>(
      stats::innerScope(scope.stats, "admission_control."));
  config->histories_.assign(scope.workers, AdmissionHistory(plan.sampling_window_ms));
  return std::shared_ptr<const HttpFilterConfig>(std::move(config));
}

HttpFilter* AdmissionControlConfig::make(FilterMemory& memory, const FilterScope& scope,
                                         FilterPlace& place) const {
  return memory.make<AdmissionControl>(*this, scope, place);
}

bool AdmissionControlConfig::isHttpSuccess(uint16_t status) const {
  return std::ranges::any_of(plan_.http_success, [status](const plan::SuccessRange& range) {
    return status >= range.first && status < range.end;
  });
}

bool AdmissionControlConfig::isGrpcSuccess(uint64_t status) const {
  return std::ranges::find(plan_.grpc_success, status) != plan_.grpc_success.end();
}

double AdmissionControlConfig::rejection(const AdmissionHistory::Counts& counts) const {
  constexpr double kMillionth = 1e-6;
  const auto share = [](const RuntimeNumber& percent) {
    return std::min(static_cast<double>(percent.value()) * kMillionth / 100, 1.0);
  };
  const auto requests = static_cast<double>(counts.requests);
  const double wanted = static_cast<double>(counts.successes) / share(success_threshold_);
  double rejection = (requests - wanted) / (requests + 1);
  const double aggression = std::max(static_cast<double>(aggression_.value()) * kMillionth, 1.0);
  // Of what is below 0 there is no power.
  if (!(rejection > 0)) return 0;
  if (aggression != 1.0) rejection = std::pow(rejection, 1.0 / aggression);
  return std::min(rejection, share(max_rejection_));
}

}  // namespace fairlead::filters
