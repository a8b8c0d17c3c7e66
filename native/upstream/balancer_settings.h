// How a cluster's hosts share its requests, as all its balancers read it. Part of the cluster;
// immutable but for what follows runtime values.
#pragma once

#include <optional>

#include "base/runtime_slots.h"
#include "plan/plan.gen.h"
#include "upstream/zone_routing.h"

namespace fairlead::upstream {

struct SlowStartSettings {
  uint64_t window_ms = 0;
  RuntimeNumber aggression_millionths;
  double min_share = 0;
};

struct BalancerSettings {
  using Kind = plan::Cluster::Balancer;

  Kind kind = Kind::RoundRobin;
  // LEAST_REQUEST: hosts drawn, of which the one with the fewest active requests is taken.
  uint32_t choices = 2;
  bool full_scan = false;
  RuntimeNumber request_bias_millionths{1'000'000, 0, nullptr};
  // A priority that panics gets nothing.
  bool fails_in_panic = false;
  bool weighs_localities = false;
  // They share by how busy they are.
  bool goes_by_load = false;
  // Absent: zones do not count.
  std::optional<ZoneSettings> zones = {};
  std::optional<SlowStartSettings> slow_start = {};

  bool goesByHash() const { return kind == Kind::RingHash || kind == Kind::Maglev; }
  // `slots`: what follows runtime values; null: nothing does.
  static BalancerSettings of(const plan::Cluster& plan, RuntimeSlots* slots);
};

}  // namespace fairlead::upstream
