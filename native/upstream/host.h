// One endpoint of a cluster. Its address is what it is: weight, health, locality and whatever else
// an assignment says of it change in place, while its connections and counters go on. Counters have
// one slot per worker and one, the last, for the control thread, written by its owner only (relaxed
// load and store), summed by the control thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "net/address.h"
#include "plan/plan.gen.h"
#include "stats/block.h"
#include "upstream/health.h"
#include "upstream/host_load.h"
#include "upstream/limits.h"
#include "upstream/outlier/monitor.h"

namespace fairlead::upstream {

// A number with one writer and any readers.
class OwnedCounter {
 public:
  void add(uint64_t amount = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
  void subtract(uint64_t amount = 1) {
    value_.store(value_.load(std::memory_order_relaxed) - amount, std::memory_order_relaxed);
  }
  uint64_t read() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<uint64_t> value_{0};
};

struct alignas(64) HostCounters {
  OwnedCounter rq_total, rq_success, rq_active, rq_error, rq_timeout, rq_pending_active;
  OwnedCounter cx_total, cx_active, cx_connect_fail;
  // Of hosts with an OutlierMonitor: all and good ones, of requests and of connections.
  OwnedCounter results, good_results, local_results, good_local_results;
};

// What assignments say of a host; part of all that one says.
using HostSettings = std::shared_ptr<const plan::Host>;

class Host : public std::enable_shared_from_this<Host> {
 public:
  // `watch`: of its cluster's detector of outliers; null: there is none. `load`: what its cluster
  // wants to know of its load.
  Host(HostSettings settings, unsigned workers, std::shared_ptr<OutlierWatch> watch = nullptr,
       HostLoad::Uses load = {})
      : owned_(std::move(settings)),
        settings_(owned_.get()),
        address_(net::Address::fromPlan(owned_->address.value_or(plan::Address()))),
        text_(address_.text()),
        proxy_(owned_->proxy_address ? std::make_unique<const net::Address>(
                                           net::Address::fromPlan(*owned_->proxy_address))
                                     : nullptr),
        counters_(std::make_unique<HostCounters[]>(workers + 1)),
        threads_(workers + 1),
        outlier_(watch ? std::make_unique<OutlierMonitor>(std::move(watch), *this) : nullptr),
        load_(load.any() ? std::make_unique<HostLoad>(load, threads_) : nullptr),
        healthy_since_ms_(hostClockMs()) {}

  // Any thread; on a worker good until its handler returns.
  const plan::Host& settings() const { return *settings_.load(std::memory_order_acquire); }
  // Control thread: of the same address. What they replace must live while workers use the HostSet
  // that it came with.
  void setSettings(HostSettings settings) {
    const bool was_healthy = isHealthy();
    settings_.store(settings.get(), std::memory_order_release);
    owned_ = std::move(settings);
    if (isHealthy() && !was_healthy) {
      healthy_since_ms_.store(hostClockMs(), std::memory_order_relaxed);
    }
  }
  // Control thread: it waits for its first check.
  bool awaitsCheck() const { return awaits_check_; }
  void setAwaitsCheck(bool awaits) { awaits_check_ = awaits; }
  // Control thread: what is known of its health beyond its settings. False: all of it was known.
  bool changeHealth(HealthFlags cleared, HealthFlags set);
  // All that is known of it. Any thread.
  HealthFlags health() const {
    return HealthFlags::ofBits(health_.load(std::memory_order_relaxed)) |
           flagsOf(settings().health);
  }
  // By hostClockMs(): when it came, or became healthy. Any thread.
  uint64_t healthySinceMs() const { return healthy_since_ms_.load(std::memory_order_relaxed); }
  const net::Address& address() const { return address_; }
  // "10.0.0.1:80"
  const std::string& text() const { return text_; }
  // By which its connections may be told to go; null: none is named. A host that is reached
  // otherwise is another host.
  const net::Address* proxy() const { return proxy_.get(); }
  uint32_t weight() const {
    const uint32_t own = load_ ? load_->weight() : 0;
    return own == 0 ? settings().weight : own;
  }
  // Null: nobody wants to know.
  HostLoad* load() const { return load_.get(); }
  // What is counted of its answers by zones; null: it, or this proxy, is in none.
  stats::Block<stats::ClusterZone>* zoneStats() const { return zone_stats_.get(); }
  // Control thread: before any worker knows the host.
  void setZoneStats(std::shared_ptr<stats::Block<stats::ClusterZone>> stats) {
    zone_stats_ = std::move(stats);
  }
  uint32_t priority() const { return settings().priority; }

  HostCounters& counters(unsigned worker) { return counters_[worker]; }
  HostCounters& controlCounters() { return counters_[threads_ - 1]; }
  // Any thread: the sum over all threads.
  template <typename Field>
  uint64_t sum(Field HostCounters::* field) const {
    uint64_t total = 0;
    for (unsigned i = 0; i < threads_; ++i) total += (counters_[i].*field).read();
    return total;
  }

  // What becomes of requests is told here; null: nobody asks.
  OutlierMonitor* outlier() const { return outlier_.get(); }

  bool isHealthy() const { return !health().has(kUnhealthyFlags | kDegradedFlags); }
  bool isDegraded() const {
    const HealthFlags flags = health();
    return !flags.has(kUnhealthyFlags) && flags.has(kDegradedFlags);
  }
  // It counts neither as healthy nor as lost.
  bool isExcluded() const { return health().has(kExcludedFlags); }

 private:
  static HealthFlags flagsOf(plan::Host::Health health);

  // The control thread's.
  HostSettings owned_;
  bool awaits_check_ = false;
  std::atomic<const plan::Host*> settings_;
  // Written by the control thread.
  std::atomic<uint32_t> health_{0};
  const net::Address address_;
  const std::string text_;
  const std::unique_ptr<const net::Address> proxy_;
  const std::unique_ptr<HostCounters[]> counters_;
  const unsigned threads_;
  const std::unique_ptr<OutlierMonitor> outlier_;
  std::shared_ptr<stats::Block<stats::ClusterZone>> zone_stats_;
  const std::unique_ptr<HostLoad> load_;
  std::atomic<uint64_t> healthy_since_ms_;
};

inline HealthFlags Host::flagsOf(plan::Host::Health health) {
  switch (health) {
    case plan::Host::Health::Healthy:
      break;
    case plan::Host::Health::Unhealthy:
    case plan::Host::Health::Timeout:
      return HealthFlag::FailedEds;
    case plan::Host::Health::Degraded:
      return HealthFlag::DegradedEds;
    case plan::Host::Health::Draining:
      return HealthFlag::DrainingEds;
  }
  return {};
}

// Nothing is different between them.
bool isSameHost(const plan::Host& a, const plan::Host& b);
// Whether metadata says the same of both, as far as anything here asks for it.
bool isDescribedAlike(const plan::Host& a, const plan::Host& b);
// Whether both are checked in the same place, or neither.
bool isCheckedAlike(const plan::Host& a, const plan::Host& b);

// The hosts that a cluster has, for whoever reads a new list of them: most often it says the same
// in the same order, which is seen without looking anything up.
class KnownHosts {
 public:
  // `hosts` must outlive it.
  explicit KnownHosts(const std::vector<std::shared_ptr<Host>>& hosts)
      : hosts_(hosts), is_taken_(hosts.size()) {}

  // The host of this address, which the new list has at that place; null: it is not known. Each is
  // given once.
  std::shared_ptr<Host> take(size_t at, const plan::Host& settings);

 private:
  struct Hash {
    size_t operator()(const plan::Host* host) const;
  };
  struct Same {
    bool operator()(const plan::Host* a, const plan::Host* b) const;
  };

  std::shared_ptr<Host> takeAt(size_t at);

  const std::vector<std::shared_ptr<Host>>& hosts_;
  std::vector<bool> is_taken_;
  // Places by address. Made when a host is not where it was.
  std::unordered_multimap<const plan::Host*, size_t, Hash, Same> by_address_;
};

}  // namespace fairlead::upstream
