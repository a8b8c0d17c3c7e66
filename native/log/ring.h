// Log lines of one thread on their way to the sink. The thread pushes, the sink takes: without a
// lock, and without waiting. What does not fit is dropped and counted.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "log/record.h"

namespace fairlead::log {

class Ring {
 public:
  // Longer texts go by way of malloc; so many bytes of them may wait.
  static constexpr size_t kLongText = 16 * 1024;
  static constexpr size_t kMaxLongBytes = 4 * 1024 * 1024;

  // `bytes`: a power of two, at least 4 * kLongText.
  explicit Ring(size_t bytes);
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;
  ~Ring();

  // ---- the thread's ----
  // False: dropped.
  bool push(const Record& record);
  uint64_t pushed() const { return tail_.load(std::memory_order_relaxed); }
  // No more is pushed.
  void close() { is_closed_.store(true, std::memory_order_release); }

  // ---- the sink's ----
  // The oldest record, or null; valid until pop().
  const Record* front();
  void pop();
  // A position in what was pushed.
  uint64_t taken() const { return head_.load(std::memory_order_relaxed); }
  bool isClosed() const { return is_closed_.load(std::memory_order_acquire); }

  // ---- any thread's ----
  bool isEmpty() const { return head_.load() == tail_.load(); }
  // Since the beginning.
  uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  struct Entry {
    // Of the whole entry; a multiple of its alignment.
    size_t size;
    bool is_filler;
    bool is_long;
    Record record;
  };

  Entry* entryAt(uint64_t position) {
    return reinterpret_cast<Entry*>(bytes_.get() + (position & mask_));
  }
  char* copyLong(std::string_view text);
  bool drop();

  const std::unique_ptr<char[]> bytes_;
  const uint64_t mask_;
  std::atomic<size_t> long_bytes_{0};
  std::atomic<bool> is_closed_{false};
  // Written by the thread.
  alignas(64) std::atomic<uint64_t> tail_{0};
  std::atomic<uint64_t> dropped_{0};
  // Written by the sink.
  alignas(64) std::atomic<uint64_t> head_{0};
};

}  // namespace fairlead::log
