// How requests stay in this proxy's own zone: all of them while its hosts can take what the proxies
// of the zone send, else as many as is fair, and the rest where there is room. A value of two host
// sets: the cluster's, and that of the proxy and its like.
#pragma once

#include <cstdint>
#include <vector>

#include "base/random.h"
#include "base/runtime_slots.h"
#include "upstream/host_set.h"

namespace fairlead::upstream {

struct ZoneSettings {
  ZoneSettings(const plan::ZoneRouting& plan, RuntimeSlots* slots);

  RuntimeNumber enabled_millionths;
  RuntimeNumber min_cluster_size;
  std::optional<uint32_t> forced_from;
  bool by_weight = false;
};

class ZoneRouting {
 public:
  // Why no request is routed by zone, which is counted; None: there is no reason, or one that
  // nobody counts.
  enum class Refusal : uint8_t { None, LocalClusterNotOk, ClusterTooSmall };
  // What became of a request, which is counted.
  enum class Verdict : uint8_t { None, AllDirectly, Sampled, CrossZone, NoCapacityLeft };
  struct Choice {
    // Of the first priority's localities.
    size_t locality = 0;
    Verdict verdict = Verdict::None;
  };

  // No request is routed by zone.
  ZoneRouting() = default;
  // Both sets are grouped by locality.
  ZoneRouting(const ZoneSettings& settings, const HostSet& hosts, const HostSet& local);

  bool isActive() const { return kind_ != Kind::None; }
  Refusal refusal() const { return refusal_; }
  // Too few of the proxy's like are healthy to know what they send.
  bool isLocalClusterInPanic() const { return local_panics_; }
  // Only where it is active.
  Choice choose(Random& random) const;

 private:
  enum class Kind : uint8_t { None, AllDirectly, Residual };

  bool isRefused(const ZoneSettings& settings, const PriorityHosts& hosts,
                 const PriorityHosts& local);

  Kind kind_ = Kind::None;
  Refusal refusal_ = Refusal::None;
  bool local_panics_ = false;
  // In hundredths of a percent: of the requests that could stay.
  uint64_t local_share_ = 0;
  // Of the localities so far together: what they can take of others.
  std::vector<uint64_t> residual_;
};

}  // namespace fairlead::upstream
