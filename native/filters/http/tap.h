// envoy.filters.http.tap: records requests and their answers for somebody who looks. What is
// recorded is told by the control plane, at any time; while nothing is, requests pass the filter
// by.
//
// A trace leaves as a protobuf message (envoy.data.tap.v3.TraceWrapper): whole at the end of its
// request, or in segments as they pass.
#pragma once

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

  static Result<std::shared_ptr<TapConfig>> build(const plan::TapFilter& plan,
                                                  std::shared_ptr<Stats> stats, unsigned workers,
                                                  std::shared_ptr<TapSink> sink,
                                                  RuntimeSlots* slots = nullptr);

  // From here on requests of that worker are recorded so; null: none is. That worker's thread.
  void set(unsigned worker, std::shared_ptr<const TapSettings> settings) {
    settings_[worker] = std::move(settings);
  }

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope) const override;

  const plan::TapFilter& plan() const { return plan_; }
  TapSink& sink() const { return *sink_; }

 private:
  plan::TapFilter plan_;
  std::shared_ptr<Stats> stats_;
  std::shared_ptr<TapSink> sink_;
  // Of each worker, which alone looks at it.
  std::vector<std::shared_ptr<const TapSettings>> settings_;
};

}  // namespace fairlead::filters
