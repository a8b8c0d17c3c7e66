// envoy.filters.http.tap: records requests and their answers for somebody who looks. What is
// recorded is told by the control plane, at any time; while nothing is, requests pass the filter
// by.
//
// A trace leaves as a protobuf message (envoy.data.tap.v3.TraceWrapper): whole at the end of its
// request, or in segments as they pass.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "base/runtime_slots.h"
#include "filters/http/http_filter.h"
#include "filters/http/tap_match.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"

namespace fairlead::filters {

// Takes traces. Called on workers' threads; must not block.
class TapSink {
 public:
  virtual ~TapSink() = default;
  // `tap`: the filter's number. `trace`: which request's.
  virtual void onTrace(uint32_t tap, uint64_t trace, std::string bytes) = 0;
};

// What to record. Immutable.
struct TapSettings {
  static Result<std::shared_ptr<const TapSettings>> build(const plan::Tap& plan,
                                                          RuntimeSlots* slots = nullptr);

  plan::Tap plan;
  TapMatch match;
  RuntimeNumber share_millionths;
};

class TapConfig final : public HttpFilterConfig {
 public:
  using Stats = stats::Block<stats::HttpTap>;

  static BuiltFilter build(const plan::TapFilter& plan, const ConfigScope& scope);

  // From here on requests of that worker are recorded so; null: none is. That worker's thread.
  void set(unsigned worker, std::shared_ptr<const TapSettings> settings) {
    settings_[worker] = std::move(settings);
  }

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

  const plan::TapFilter& plan() const { return plan_; }
  TapSink& sink() const { return *sink_; }

 private:
  plan::TapFilter plan_;
  std::shared_ptr<Stats> stats_;
  std::shared_ptr<TapSink> sink_;
  // Of each worker, which alone looks at it.
  std::vector<std::shared_ptr<const TapSettings>> settings_;
};

// The tap filters of a data plane, by their numbers. The control thread's.
class Taps {
 public:
  // `sink`: null: there cannot be any.
  explicit Taps(std::shared_ptr<TapSink> sink) : sink_(std::move(sink)) {}

  const std::shared_ptr<TapSink>& sink() const { return sink_; }
  void add(const std::shared_ptr<TapConfig>& tap) {
    std::erase_if(taps_, [](const auto& known) { return known.second.expired(); });
    taps_[tap->plan().id] = tap;
  }
  // Null: there is none of this number, or not any more.
  std::shared_ptr<TapConfig> find(uint32_t number) const {
    const auto found = taps_.find(number);
    return found == taps_.end() ? nullptr : found->second.lock();
  }

 private:
  const std::shared_ptr<TapSink> sink_;
  // Their filter chains hold them.
  std::map<uint32_t, std::weak_ptr<TapConfig>> taps_;
};

}  // namespace fairlead::filters
