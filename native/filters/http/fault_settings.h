// Which requests have faults, and which ones, as a chain or a route says it. Immutable, but for
// numbers that follow runtime values.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/runtime_slots.h"
#include "format/filter_metadata.h"
#include "plan/plan.gen.h"
#include "route/filter_settings.h"
#include "route/header_match.h"
#include "route/request_view.h"

namespace fairlead::filters {

// What a runtime key puts in place of a number.
class RuntimeOverride {
 public:
  RuntimeOverride() = default;
  RuntimeOverride(const Boxed<plan::RuntimeOverride>& plan, RuntimeSlots& slots) {
    if (plan) number_ = RuntimeNumber(plan->now, plan->slot, &slots);
  }
  uint64_t over(uint64_t otherwise) const {
    const uint64_t number = number_.value();
    return number == kUnset ? otherwise : number;
  }

 private:
  // The largest whole number that the control plane's are exact for.
  static constexpr uint64_t kUnset = (uint64_t{1} << 53) - 1;
  RuntimeNumber number_{kUnset, 0, nullptr};
};

class FaultSettings final : public route::FilterConfig {
 public:
  static Result<std::unique_ptr<const route::FilterConfig>> build(const plan::FaultSettings& plan,
                                                                  RuntimeSlots& slots);
  static const FaultSettings* of(const route::FilterConfig* config) {
    return config->kind() == &kKind ? static_cast<const FaultSettings*>(config) : nullptr;
  }
  const void* kind() const override { return &kKind; }

  struct Share {
    uint64_t numerator = 0;
    uint64_t unit_millionths = 0;
    RuntimeOverride override;

    Share() = default;
    Share(const Boxed<plan::FaultShare>& plan, RuntimeSlots& slots);
    // In millionths, of a request whose header asks for no more than `asked`.
    uint64_t ofRequest(std::optional<uint64_t> asked) const {
      return std::min(numerator, asked.value_or(numerator)) * unit_millionths;
    }
  };
  // Whether faults are meant for such requests. `cluster`: where it goes.
  bool fits(const route::RequestView& request, std::string_view cluster) const;

  plan::FaultSettings plan;
  Share delay_share, abort_share, rate_share;
  RuntimeOverride delay_ms, http_status, grpc_status, max_active;
  format::FilterMetadata metadata;

 private:
  static constexpr char kKind = 0;

  std::vector<route::HeaderMatch> headers_;
};

}  // namespace fairlead::filters
