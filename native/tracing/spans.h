// The way of finished spans from the workers to the control thread: for each worker a ring of
// bytes, of which it is the only writer and the control thread the only reader. Bounded: what does
// not fit is dropped and counted, never waited for. Owned by the data plane.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace fairlead::tracing {

// Of one worker.
class SpanRing {
 public:
  // What a collector that is slow or away may make a worker keep.
  static constexpr size_t kBytes = 1024 * 1024;

  // ---- the worker's ----
  // False: it was dropped.
  bool push(std::string_view record);

  // ---- the control thread's ----
  // Appends all that has come.
  void take(std::string* out);

  // Any thread.
  uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  void copyIn(uint64_t at, std::string_view bytes);

  // Made when the first span comes.
  std::unique_ptr<char[]> bytes_;
  std::atomic<char*> ready_{nullptr};
  // How much was written and read since the beginning.
  alignas(64) std::atomic<uint64_t> tail_{0};
  std::atomic<uint64_t> dropped_{0};
  alignas(64) std::atomic<uint64_t> head_{0};
};

class Spans {
 public:
  // `on_spans`: asks that the control thread takes what there is; on any thread, as often as it
  // likes. Null: nobody is asked.
  Spans(unsigned workers, std::function<void()> on_spans);

  // The worker's thread: a span's record, see record.h.
  void push(unsigned worker, std::string_view record) {
    if (rings_[worker].push(record) && on_spans_) on_spans_();
  }
  // The control thread: what all workers have told since the last time, one record after another.
  std::string take();
  // Since the beginning: those that nobody took in time.
  uint64_t dropped() const;

 private:
  const unsigned workers_;
  const std::unique_ptr<SpanRing[]> rings_;
  const std::function<void()> on_spans_;
};

}  // namespace fairlead::tracing
