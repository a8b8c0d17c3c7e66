// Samples where a thread spends its CPU time: a timer on the thread's own CPU clock interrupts it,
// and the handler writes its stack into a ring. An idle thread is never interrupted.
#pragma once

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <memory>
#include <span>

namespace fairlead::profile {

class ThreadSampler {
 public:
  static constexpr unsigned kPeriodMs = 10;
  static constexpr size_t kMaxDepth = 64;

  ThreadSampler();
  ThreadSampler(const ThreadSampler&) = delete;
  ThreadSampler& operator=(const ThreadSampler&) = delete;

  // The thread that is sampled; both. False: the kernel has no timer for it.
  bool start();
  void stop();

  // The reader's thread, one at a time. Calls visit(span of addresses, inner first) for each sample
  // since the previous call. What did not fit in between is lost.
  template <typename Visit>
  void drain(Visit visit) {
    const uint32_t end = written_.load(std::memory_order_acquire);
    for (uint32_t at = read_.load(std::memory_order_relaxed); at != end; ++at) {
      const Sample& sample = (*ring_)[at % kCapacity];
      visit(std::span<const uintptr_t>(sample.addresses.data(), sample.depth));
    }
    read_.store(end, std::memory_order_release);
  }

 private:
  struct Sample {
    uint32_t depth;
    std::array<uintptr_t, kMaxDepth> addresses;
  };
  // Ten seconds of CPU time.
  static constexpr uint32_t kCapacity = 1024;

  // On the sampled thread, between any two of its instructions: no lock, no allocation.
  static void onSignal(int signal, siginfo_t* info, void* context);
  void take(const void* context);

  std::unique_ptr<std::array<Sample, kCapacity>> ring_;
  // They only grow; the signal handler owns the first, the reader the second.
  std::atomic<uint32_t> written_ = 0;
  std::atomic<uint32_t> read_ = 0;
  timer_t timer_ = {};
  bool running_ = false;
};

}  // namespace fairlead::profile
