#include "upstream/zone_routing.h"

#include <algorithm>
#include <map>

namespace fairlead::upstream {

namespace {

constexpr uint64_t kWhole = 10'000;

uint64_t sizeOf(const HostList& hosts, bool by_weight) {
  return by_weight ? hosts.sumOfWeights() : hosts.size();
}

// Of all that is sent, and of all that can be taken.
struct Share {
  uint64_t sent = 0;
  uint64_t taken = 0;
};

// Of the localities of `hosts`, in their order.
std::vector<Share> sharesOf(const PriorityHosts& hosts, const PriorityHosts& local,
                            bool by_weight) {
  std::map<Locality, uint64_t> senders;
  uint64_t all_senders = 0;
  for (const LocalityHosts& locality : local.localities) {
    const uint64_t size = sizeOf(locality.healthy, by_weight);
    if (!locality.healthy.empty()) senders.emplace(locality.where, size);
    all_senders += size;
  }
  uint64_t all_takers = 0;
  for (const LocalityHosts& locality : hosts.localities) {
    all_takers += sizeOf(locality.healthy, by_weight);
  }
  std::vector<Share> shares;
  for (const LocalityHosts& locality : hosts.localities) {
    Share& share = shares.emplace_back();
    if (locality.healthy.empty()) continue;
    const auto sender = senders.find(locality.where);
    if (sender != senders.end() && all_senders > 0) {
      share.sent = kWhole * sender->second / all_senders;
    }
    if (all_takers > 0) share.taken = kWhole * sizeOf(locality.healthy, by_weight) / all_takers;
  }
  return shares;
}

}  // namespace

ZoneSettings::ZoneSettings(const plan::ZoneRouting& plan, RuntimeSlots* slots)
    : enabled_millionths(plan.enabled_millionths, plan.enabled_slot, slots),
      min_cluster_size(plan.min_cluster_size, plan.min_cluster_size_slot, slots),
      forced_from(plan.forced_from),
      by_weight(plan.by_weight) {}

ZoneRouting::ZoneRouting(const ZoneSettings& settings, const HostSet& host_set,
                         const HostSet& local_set) {
  const PriorityHosts& hosts = host_set.priorities()[0];
  const PriorityHosts& local = local_set.priorities()[0];
  if (isRefused(settings, hosts, local)) return;
  local_panics_ = local.isBelow(host_set.rules().panic_threshold_pct);
  const std::vector<Share> shares = sharesOf(hosts, local, settings.by_weight);
  const Share& own = shares[0];
  if (hosts.has_local) {
    const bool is_forced =
        settings.forced_from && hosts.localities[0].healthy.size() >= *settings.forced_from;
    if (is_forced || (own.taken > 0 && own.taken >= own.sent)) {
      kind_ = Kind::AllDirectly;
      return;
    }
  }
  kind_ = Kind::Residual;
  if (hosts.has_local && own.sent > 0) local_share_ = own.taken * kWhole / own.sent;
  uint64_t residual = 0;
  for (size_t i = 0; i < shares.size(); ++i) {
    const bool is_own = i == 0 && hosts.has_local;
    if (!is_own && shares[i].taken > shares[i].sent) residual += shares[i].taken - shares[i].sent;
    residual_.push_back(residual);
  }
}

bool ZoneRouting::isRefused(const ZoneSettings& settings, const PriorityHosts& hosts,
                            const PriorityHosts& local) {
  if (hosts.localities.size() < 2) return true;
  if (local.localities.size() < 2 && !settings.forced_from) return true;
  if (!local.has_local) {
    refusal_ = Refusal::LocalClusterNotOk;
    return true;
  }
  if (hosts.healthy.size() < settings.min_cluster_size.value()) {
    refusal_ = Refusal::ClusterTooSmall;
    return true;
  }
  return false;
}

ZoneRouting::Choice ZoneRouting::choose(Random& random) const {
  if (kind_ == Kind::AllDirectly) return {0, Verdict::AllDirectly};
  if (random.below(kWhole) < local_share_) return {0, Verdict::Sampled};
  // Rounding may have left nothing.
  if (residual_.back() == 0) return {random.below(residual_.size()), Verdict::NoCapacityLeft};
  const uint64_t at = random.below(residual_.back());
  const auto found = std::upper_bound(residual_.begin(), residual_.end(), at);
  return {static_cast<size_t>(found - residual_.begin()), Verdict::CrossZone};
}

}  // namespace fairlead::upstream
