#include "base/slab.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "base/stale.h"

namespace fairlead {

SlabPool::~SlabPool() {
  while (free_) {
    Slab* next = free_->next;
    delete free_;
    free_ = next;
  }
}

Slab* SlabPool::take() {
  ++in_use_;
  Slab* slab = free_;
  if (slab) {
    free_ = slab->next;
    --free_count_;
  } else {
    slab = new Slab;
  }
  slab->next = nullptr;
  slab->begin = slab->end = 0;
  markFresh(slab->data, Slab::kBytes);
  return slab;
}

void SlabPool::give(Slab* slab) {
  --in_use_;
  if (free_count_ >= kMaxFree) {
    delete slab;
    return;
  }
  slab->next = free_;
  markStale(slab->data, Slab::kBytes);
  free_ = slab;
  ++free_count_;
}

SlabChain::~SlabChain() { FL_DCHECK(first_ == nullptr); }

void SlabChain::append(SlabPool& pool, std::string_view bytes) {
  size_ += bytes.size();
  while (!bytes.empty()) {
    if (!last_ || last_->end == Slab::kBytes) {
      Slab* slab = pool.take();
      if (last_) {
        last_->next = slab;
      } else {
        first_ = slab;
      }
      last_ = slab;
    }
    const size_t part = std::min(bytes.size(), Slab::kBytes - last_->end);
    std::memcpy(last_->data + last_->end, bytes.data(), part);
    last_->end += static_cast<uint32_t>(part);
    bytes.remove_prefix(part);
  }
}

int SlabChain::gather(iovec* iov, int max) const {
  int used = 0;
  for (Slab* slab = first_; slab && used < max; slab = slab->next) {
    iov[used++] = {slab->data + slab->begin, slab->end - slab->begin};
  }
  return used;
}

void SlabChain::consume(SlabPool& pool, size_t bytes) {
  FL_DCHECK(bytes <= size_);
  size_ -= bytes;
  while (bytes > 0) {
    const size_t part = std::min<size_t>(bytes, first_->end - first_->begin);
    markStale(first_->data + first_->begin, part);
    first_->begin += static_cast<uint32_t>(part);
    bytes -= part;
    if (first_->begin < first_->end) break;
    Slab* next = first_->next;
    pool.give(first_);
    first_ = next;
  }
  if (!first_) last_ = nullptr;
}

void SlabChain::clear(SlabPool& pool) {
  consume(pool, size_);
  FL_DCHECK(first_ == nullptr);
}

}  // namespace fairlead
