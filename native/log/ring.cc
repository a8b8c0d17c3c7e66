#include "log/ring.h"

#include <cstdlib>
#include <cstring>
#include <new>

#include "base/check.h"

namespace fairlead::log {

Ring::Ring(size_t bytes) : bytes_(new char[bytes + sizeof(Entry)]), mask_(bytes - 1) {
  FL_CHECK((bytes & mask_) == 0 && bytes >= 4 * kLongText);
}

Ring::~Ring() {
  while (front() != nullptr) pop();
}

bool Ring::drop() {
  dropped_.store(dropped_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return false;
}

char* Ring::copyLong(std::string_view text) {
  if (long_bytes_.load(std::memory_order_relaxed) + text.size() > kMaxLongBytes) return nullptr;
  auto* copy = static_cast<char*>(std::malloc(text.size()));
  if (copy == nullptr) return nullptr;
  std::memcpy(copy, text.data(), text.size());
  long_bytes_.fetch_add(text.size(), std::memory_order_relaxed);
  return copy;
}

bool Ring::push(const Record& record) {
  const bool is_long = record.text.size() > kLongText;
  const size_t inside = is_long ? 0 : record.text.size();
  const size_t size = (sizeof(Entry) + inside + alignof(Entry) - 1) & ~(alignof(Entry) - 1);
  uint64_t tail = tail_.load(std::memory_order_relaxed);
  const uint64_t head = head_.load(std::memory_order_acquire);
  const size_t to_end = mask_ + 1 - (tail & mask_);
  const size_t filler = to_end < size ? to_end : 0;
  if (tail + filler + size - head > mask_ + 1) return drop();
  char* copy = nullptr;
  if (is_long && (copy = copyLong(record.text)) == nullptr) return drop();
  if (filler > 0) {
    // It may reach beyond the ring; there is room for that behind its end.
    Entry* entry = entryAt(tail);
    entry->size = filler;
    entry->is_filler = true;
    tail += filler;
  }
  Entry* entry = new (entryAt(tail)) Entry{size, false, is_long, record};
  if (!is_long) {
    copy = reinterpret_cast<char*>(entry + 1);
    std::memcpy(copy, record.text.data(), inside);
  }
  entry->record.text = {copy, record.text.size()};
  // In one order with what the sink says about its sleep (see Sink).
  tail_.store(tail + size, std::memory_order_seq_cst);
  return true;
}

const Record* Ring::front() {
  uint64_t head = head_.load(std::memory_order_relaxed);
  if (head == tail_.load(std::memory_order_seq_cst)) return nullptr;
  const Entry* entry = entryAt(head);
  if (entry->is_filler) {
    head += entry->size;
    head_.store(head, std::memory_order_release);
    entry = entryAt(head);
  }
  return &entry->record;
}

void Ring::pop() {
  const uint64_t head = head_.load(std::memory_order_relaxed);
  const Entry* entry = entryAt(head);
  if (entry->is_long) {
    std::free(const_cast<char*>(entry->record.text.data()));
    long_bytes_.fetch_sub(entry->record.text.size(), std::memory_order_relaxed);
  }
  head_.store(head + entry->size, std::memory_order_release);
}

}  // namespace fairlead::log
