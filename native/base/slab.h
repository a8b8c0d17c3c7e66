// Bytes that could not go on at once. Slabs of 16 KiB come from a worker's free list and are
// chained on the connection that waits; an idle connection owns none. One thread.
#pragma once

#include <sys/uio.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

namespace fairlead {

struct Slab {
  static constexpr size_t kBytes = 16 * 1024 - 16;
  Slab* next = nullptr;
  uint32_t begin = 0;
  uint32_t end = 0;
  char data[kBytes];
};

// A worker's free slabs. Keeps a bounded number; the rest goes back to the system.
class SlabPool {
 public:
  SlabPool() = default;
  SlabPool(const SlabPool&) = delete;
  SlabPool& operator=(const SlabPool&) = delete;
  ~SlabPool();

  Slab* take();
  void give(Slab* slab);
  size_t inUse() const { return in_use_; }

 private:
  static constexpr size_t kMaxFree = 256;
  Slab* free_ = nullptr;
  size_t free_count_ = 0;
  size_t in_use_ = 0;
};

// A queue of bytes in slabs.
class SlabChain {
 public:
  SlabChain() = default;
  SlabChain(const SlabChain&) = delete;
  SlabChain& operator=(const SlabChain&) = delete;
  SlabChain(SlabChain&& other) noexcept
      : first_(std::exchange(other.first_, nullptr)),
        last_(std::exchange(other.last_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  ~SlabChain();

  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  // What the slabs take, as far as they are full but for the last.
  size_t memory() const { return (size_ + Slab::kBytes - 1) / Slab::kBytes * sizeof(Slab); }
  void append(SlabPool& pool, std::string_view bytes);
  // Visits what is here, from the front, in pieces.
  template <typename Visit>
  void forEachPiece(Visit visit) const {
    for (const Slab* slab = first_; slab; slab = slab->next) {
      visit(std::string_view(slab->data + slab->begin, slab->end - slab->begin));
    }
  }
  // Fills `iov` with what is at the front; returns the number of entries used.
  int gather(iovec* iov, int max) const;
  void consume(SlabPool& pool, size_t bytes);
  void clear(SlabPool& pool);

 private:
  Slab* first_ = nullptr;
  Slab* last_ = nullptr;
  size_t size_ = 0;
};

}  // namespace fairlead
