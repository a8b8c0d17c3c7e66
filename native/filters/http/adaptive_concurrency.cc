#include "filters/http/adaptive_concurrency.h"

#include <utility>

#include "net/loop.h"
#include "stats/scopes.h"

namespace fairlead::filters {

namespace {

// Of one request.
class AdaptiveConcurrency final : public HttpFilter {
 public:
  AdaptiveConcurrency(const AdaptiveConcurrencyConfig& config, const FilterScope& scope,
                      FilterPlace& place)
      : config_(config), scope_(scope), place_(place) {}
  ~AdaptiveConcurrency() override {
    if (is_under_way_) config_.controller().leaveUnanswered();
  }

  FilterStatus onRequestHead(http::RequestHead&, const route::RequestView&, bool) override {
    if (scope_.notes.is_health_check) return FilterStatus::Continue;
    begun_us_ = place_.loop().nowMicros();
    if (!config_.controller().enter(scope_.worker, begun_us_)) return FilterStatus::Answer;
    is_under_way_ = true;
    return FilterStatus::Continue;
  }
  LocalReply answer() const override {
    return {config_.status(), "reached concurrency limit", "reached_concurrency_limit"};
  }

  FilterStatus onResponseHead(uint16_t, http::HeaderMap&, bool end, Arena&) override {
    if (end) leave();
    return FilterStatus::Continue;
  }
  FilterStatus onResponseData(std::string_view, bool end) override {
    if (end) leave();
    return FilterStatus::Continue;
  }
  FilterStatus onResponseTrailers(http::HeaderMap&) override {
    leave();
    return FilterStatus::Continue;
  }

 private:
  void leave() {
    if (!std::exchange(is_under_way_, false)) return;
    config_.controller().leave(begun_us_, place_.loop().nowMicros());
  }

  const AdaptiveConcurrencyConfig& config_;
  const FilterScope& scope_;
  FilterPlace& place_;
  uint64_t begun_us_ = 0;
  bool is_under_way_ = false;
};

}  // namespace

BuiltFilter AdaptiveConcurrencyConfig::build(const plan::AdaptiveConcurrency& plan,
                                             const ConfigScope& scope) {
  auto config = std::make_shared<AdaptiveConcurrencyConfig>();
  config->enabled_ = plan.enabled
                         ? RuntimeNumber(plan.enabled->value, plan.enabled->slot, &scope.slots)
                         : RuntimeNumber(1, 0, nullptr);
  config->status_ = static_cast<uint16_t>(plan.status);
  config->controller_ = std::make_shared<GradientController>(
      plan, scope.slots,
      scope.registry.create<stats::GradientController>(
          stats::innerScope(scope.stats, "adaptive_concurrency.gradient_controller.")),
      net::Loop::readClockMicros());
  config->controller_->publish();
  scope.publishers.add(config->controller_);
  return std::shared_ptr<const HttpFilterConfig>(std::move(config));
}

HttpFilter* AdaptiveConcurrencyConfig::make(FilterMemory& memory, const FilterScope& scope,
                                            FilterPlace& place) const {
  if (enabled_.value() == 0) return nullptr;
  // Bodies that end past the filters are not seen to end.
  scope.notes.sees_response_body = true;
  return memory.make<AdaptiveConcurrency>(*this, scope, place);
}

}  // namespace fairlead::filters
