// Circuit-breaker budgets of a cluster: shared by all workers, touched only when a resource is
// taken or given back. Relaxed: a limit may be exceeded by as many as there are workers, never
// lost.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>

#include "plan/plan.gen.h"
#include "upstream/request_window.h"

namespace fairlead::upstream {

// What hosts' ages are reckoned by. Any thread.
uint64_t hostClockMs();

// One resource. On its own cache line, so that two resources never fight for one.
class alignas(64) Budget {
 public:
  void setMax(uint64_t max) { max_.store(max, std::memory_order_relaxed); }
  uint64_t max() const { return max_.load(std::memory_order_relaxed); }
  uint64_t used() const { return used_.load(std::memory_order_relaxed); }
  bool isExhausted() const { return used() >= max(); }

  bool tryTake() {
    if (isExhausted()) return false;
    take();
    return true;
  }
  // Beyond the limit too: a host's first connection is always allowed.
  void take() {
    used_.fetch_add(1, std::memory_order_relaxed);
    touch();
  }
  // Its gauges are shown as used from here on.
  void touch() {
    if (!isTouched()) touched_.store(true, std::memory_order_relaxed);
  }
  bool isTouched() const { return touched_.load(std::memory_order_relaxed); }
  void giveBack() { used_.fetch_sub(1, std::memory_order_relaxed); }
  // Where it is told as well that one was taken; null: nowhere.
  RequestWindow* window() const { return window_.load(std::memory_order_acquire); }
  void tell(RequestWindow* window) { window_.store(window, std::memory_order_release); }

 private:
  std::atomic<uint64_t> used_{0};
  std::atomic<uint64_t> max_{0};
  std::atomic<bool> touched_{false};
  std::atomic<RequestWindow*> window_{nullptr};
};

// Of one priority. Retries have a limit of their own, or a share of what is active.
struct Limits {
  Budget connections;
  Budget pending_requests;
  Budget requests;
  Budget retries;
  Budget connection_pools;
  // kNoShare: the limit of `retries` counts.
  static constexpr uint64_t kNoShare = UINT64_MAX;
  std::atomic<uint64_t> retry_share_millionths{kNoShare};
  std::atomic<uint64_t> min_retries{0};
  // The share is of requests that began lately, not of those that are active.
  std::atomic<bool> counts_begun{false};

  bool takeRequest() {
    if (!requests.tryTake()) return false;
    if (RequestWindow* const window = requests.window()) [[unlikely]]
      window->add(hostClockMs());
    return true;
  }
  bool canRetry() {
    if (hasRetryShare() && !wasRetryShareAsked()) {
      was_share_asked_.store(true, std::memory_order_relaxed);
    }
    return retries.used() < maxRetries();
  }
  // A retry was once to be had of a share.
  bool wasRetryShareAsked() const { return was_share_asked_.load(std::memory_order_relaxed); }
  uint64_t maxRetries() const {
    const uint64_t share = retry_share_millionths.load(std::memory_order_relaxed);
    if (share == kNoShare) return retries.max();
    return std::max(countedRequests() * share / 1'000'000,
                    min_retries.load(std::memory_order_relaxed));
  }

  void configure(const plan::CircuitLimits& limits) {
    connections.setMax(limits.max_connections);
    pending_requests.setMax(limits.max_pending_requests);
    requests.setMax(limits.max_requests);
    retries.setMax(limits.max_retries);
    const auto& most_pools = limits.max_connection_pools;
    connection_pools.setMax(most_pools ? uint64_t{*most_pools} : UINT64_MAX);
    const auto& budget = limits.retry_budget;
    const uint64_t interval_ms = budget ? budget->interval_ms : 0;
    // One that is there is kept: others may be about to write to it.
    if (interval_ms > 0 && !window_) {
      window_ = std::make_unique<RequestWindow>(interval_ms);
      requests.tell(window_.get());
    }
    counts_begun.store(interval_ms > 0, std::memory_order_relaxed);
    min_retries.store(budget ? budget->min_concurrency : 0, std::memory_order_relaxed);
    retry_share_millionths.store(budget ? budget->share_millionths : kNoShare,
                                 std::memory_order_relaxed);
  }

 private:
  bool hasRetryShare() const {
    return retry_share_millionths.load(std::memory_order_relaxed) != kNoShare;
  }
  uint64_t countedRequests() const {
    const RequestWindow* const window = requests.window();
    if (window && counts_begun.load(std::memory_order_relaxed)) {
      return window->count(hostClockMs());
    }
    return requests.used() + pending_requests.used();
  }

  // Null: nobody has ever wanted it.
  std::unique_ptr<RequestWindow> window_;
  std::atomic<bool> was_share_asked_{false};
};

}  // namespace fairlead::upstream
