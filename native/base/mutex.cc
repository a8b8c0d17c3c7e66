#include "base/mutex.h"

#include <atomic>
#include <chrono>

namespace fairlead {

namespace {

std::atomic<bool> is_traced{false};
// Each is right by itself; together they may be of two moments.
std::atomic<uint64_t> count{0};
std::atomic<uint64_t> last_wait_cycles{0};
std::atomic<uint64_t> total_wait_cycles{0};

uint64_t cycles() {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t ticks;
  asm volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return static_cast<uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#endif
}

}  // namespace

void Mutex::lockAfterWaiting() {
  if (!is_traced.load(std::memory_order_relaxed)) {
    mutex_.lock();
    return;
  }
  const uint64_t start = cycles();
  mutex_.lock();
  const uint64_t waited = cycles() - start;
  count.fetch_add(1, std::memory_order_relaxed);
  last_wait_cycles.store(waited, std::memory_order_relaxed);
  total_wait_cycles.fetch_add(waited, std::memory_order_relaxed);
}

void traceMutexes() { is_traced.store(true, std::memory_order_relaxed); }

Contention contention() {
  return {count.load(std::memory_order_relaxed), last_wait_cycles.load(std::memory_order_relaxed),
          total_wait_cycles.load(std::memory_order_relaxed)};
}

}  // namespace fairlead
