#include "tracing/spans.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace fairlead::tracing {

bool SpanRing::push(std::string_view record) {
  const uint64_t tail = tail_.load(std::memory_order_relaxed);
  const uint64_t head = head_.load(std::memory_order_acquire);
  if (record.size() > kBytes - (tail - head)) {
    dropped_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  if (!bytes_) {
    bytes_ = std::make_unique_for_overwrite<char[]>(kBytes);
    ready_.store(bytes_.get(), std::memory_order_release);
  }
  copyIn(tail, record);
  tail_.store(tail + record.size(), std::memory_order_release);
  return true;
}

void SpanRing::copyIn(uint64_t at, std::string_view bytes) {
  const size_t begin = at % kBytes;
  const size_t first = std::min(bytes.size(), kBytes - begin);
  std::memcpy(bytes_.get() + begin, bytes.data(), first);
  std::memcpy(bytes_.get(), bytes.data() + first, bytes.size() - first);
}

void SpanRing::take(std::string* out) {
  const uint64_t head = head_.load(std::memory_order_relaxed);
  const uint64_t tail = tail_.load(std::memory_order_acquire);
  if (head == tail) return;
  const char* const bytes = ready_.load(std::memory_order_acquire);
  const size_t begin = head % kBytes;
  const size_t size = tail - head;
  const size_t first = std::min(size, kBytes - begin);
  out->append(bytes + begin, first);
  out->append(bytes, size - first);
  head_.store(tail, std::memory_order_release);
}

Spans::Spans(unsigned workers, std::function<void()> on_spans)
    : workers_(workers),
      rings_(std::make_unique<SpanRing[]>(workers)),
      on_spans_(std::move(on_spans)) {}

std::string Spans::take() {
  std::string taken;
  for (unsigned i = 0; i < workers_; ++i) rings_[i].take(&taken);
  return taken;
}

uint64_t Spans::dropped() const {
  uint64_t sum = 0;
  for (unsigned i = 0; i < workers_; ++i) sum += rings_[i].dropped();
  return sum;
}

}  // namespace fairlead::tracing
