// Single values of histograms on their way to a sink. Only where one wants them: otherwise there
// are no rings.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace fairlead::stats {

struct Sample {
  // BlockBase::id()
  uint32_t block;
  uint32_t histogram;
  uint64_t value;
};

// One thread puts in, the control thread takes out. What finds no room is lost, and counted.
class SampleRing {
 public:
  static constexpr size_t kCapacity = 32 * 1024;

  void push(const Sample& sample) {
    const size_t end = end_.load(std::memory_order_relaxed);
    if (end - begin_.load(std::memory_order_acquire) == kCapacity) {
      lost_.store(lost_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      return;
    }
    samples_[end % kCapacity] = sample;
    end_.store(end + 1, std::memory_order_release);
  }

  // The control thread's. Calls visit(sample) for up to `limit` of them, and returns how many.
  template <typename Visit>
  size_t take(size_t limit, Visit visit) {
    const size_t begin = begin_.load(std::memory_order_relaxed);
    const size_t waiting = end_.load(std::memory_order_acquire) - begin;
    const size_t count = waiting < limit ? waiting : limit;
    for (size_t i = 0; i < count; ++i) visit(samples_[(begin + i) % kCapacity]);
    begin_.store(begin + count, std::memory_order_release);
    return count;
  }
  uint64_t lost() const { return lost_.load(std::memory_order_relaxed); }

 private:
  alignas(64) std::atomic<size_t> end_{0};
  std::atomic<uint64_t> lost_{0};
  alignas(64) std::atomic<size_t> begin_{0};
  const std::unique_ptr<Sample[]> samples_ = std::make_unique_for_overwrite<Sample[]>(kCapacity);
};

// Where a shard's histograms put their values; no ring: nowhere.
struct SampleTarget {
  SampleRing* ring = nullptr;
  uint32_t block = 0;
};

}  // namespace fairlead::stats
