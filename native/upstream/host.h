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

// What assignments say of a host; part of all that one says.
using HostSettings = std::shared_ptr<const plan::Host>;

class Host : public std::enable_shared_from_this<Host> {
 public:
  Host(HostSettings settings, unsigned workers)
      : owned_(std::move(settings)),
        settings_(owned_.get()),
        address_(net::Address::fromPlan(owned_->address.value_or(plan::Address()))),
        text_(address_.text()),
        counters_(std::make_unique<HostCounters[]>(workers + 1)),
        threads_(workers + 1) {}

  // Any thread; on a worker good until its handler returns.
  const plan::Host& settings() const { return *settings_.load(std::memory_order_acquire); }
  // Control thread: of the same address. What they replace must live while workers use the HostSet
  // that it came with.
  void setSettings(HostSettings settings) {
    settings_.store(settings.get(), std::memory_order_release);
    owned_ = std::move(settings);
  }
  const net::Address& address() const { return address_; }
  // "10.0.0.1:80"
  const std::string& text() const { return text_; }
  uint32_t weight() const { return settings().weight; }
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

  bool isHealthy() const { return settings().health == plan::Host::Health::Healthy; }
  bool isDegraded() const { return settings().health == plan::Host::Health::Degraded; }

 private:
  // The control thread's.
  HostSettings owned_;
  std::atomic<const plan::Host*> settings_;
  const net::Address address_;
  const std::string text_;
  const std::unique_ptr<HostCounters[]> counters_;
  const unsigned threads_;
};

// Nothing is different between them.
bool isSameHost(const plan::Host& a, const plan::Host& b);

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
