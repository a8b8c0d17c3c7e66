// One endpoint of a cluster. Settings never change; counters have one slot per worker and one, the
// last, for the control thread, written by its owner only (relaxed load and store), summed by the
// control thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "net/address.h"
#include "plan/plan.gen.h"

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
};

class Host : public std::enable_shared_from_this<Host> {
 public:
  Host(const plan::Host& settings, unsigned workers)
      : settings_(settings),
        address_(net::Address::fromPlan(settings.address.value_or(plan::Address()))),
        text_(address_.text()),
        counters_(std::make_unique<HostCounters[]>(workers + 1)),
        threads_(workers + 1) {}

  const plan::Host& settings() const { return settings_; }
  const net::Address& address() const { return address_; }
  // "10.0.0.1:80"
  const std::string& text() const { return text_; }
  uint32_t weight() const { return settings_.weight; }
  uint32_t priority() const { return settings_.priority; }

  HostCounters& counters(unsigned worker) { return counters_[worker]; }
  HostCounters& controlCounters() { return counters_[threads_ - 1]; }
  // Any thread: the sum over all threads.
  template <typename Field>
  uint64_t sum(Field HostCounters::* field) const {
    uint64_t total = 0;
    for (unsigned i = 0; i < threads_; ++i) total += (counters_[i].*field).read();
    return total;
  }

  bool isHealthy() const { return settings_.health == plan::Host::Health::Healthy; }
  bool isDegraded() const { return settings_.health == plan::Host::Health::Degraded; }

 private:
  const plan::Host settings_;
  const net::Address address_;
  const std::string text_;
  const std::unique_ptr<HostCounters[]> counters_;
  const unsigned threads_;
};

// They are the same host, with the same settings.
bool isSameHost(const plan::Host& a, const plan::Host& b);

// The hosts that a cluster has, for whoever reads a new list of them: most often it says the same
// in the same order, which is seen without looking anything up.
class KnownHosts {
 public:
  // `hosts` must outlive it.
  explicit KnownHosts(const std::vector<std::shared_ptr<Host>>& hosts) : hosts_(hosts) {}

  // The host of these settings, which the new list has at that place; null: it is not known.
  std::shared_ptr<Host> find(size_t at, const plan::Host& settings);

 private:
  struct Hash {
    size_t operator()(const plan::Host* host) const;
  };
  struct Same {
    bool operator()(const plan::Host* a, const plan::Host* b) const { return isSameHost(*a, *b); }
  };

  const std::vector<std::shared_ptr<Host>>& hosts_;
  // Made when a host is not where it was.
  std::unordered_map<const plan::Host*, std::shared_ptr<Host>, Hash, Same> by_settings_;
};

}  // namespace fairlead::upstream
