// Answers counted by status: upstream_rq_200, upstream_rq_2xx, upstream_rq_completed and the same by
// where the request came from. A status takes a slot when it is first seen. One writer, any readers.
#pragma once

#include <atomic>
#include <cstdint>

namespace fairlead::stats {

// Whose answers are counted a second time, under a prefix of their own.
enum class CodeVariant : uint8_t { All, External, Internal, Canary };
constexpr int kCodeVariants = 4;
constexpr const char* kCodeVariantPrefixes[kCodeVariants] = {"", "external.", "internal.",
                                                             "canary."};

class CodeCounts {
 public:
  CodeCounts() = default;
  CodeCounts(const CodeCounts&) = delete;
  CodeCounts& operator=(const CodeCounts&) = delete;
  ~CodeCounts() {
    for (Chunk* chunk = next_.load(); chunk;) {
      Chunk* next = chunk->next.load();
      delete chunk;
      chunk = next;
    }
  }

  void add(CodeVariant variant, uint16_t status) {
    bump(slotOf(status).counts[static_cast<int>(variant)]);
  }

  // Calls visit(status, variant, count) for each that was counted.
  template <typename Visit>
  void forEach(Visit visit) const {
    for (const Chunk* chunk = next_.load(std::memory_order_acquire); chunk;
         chunk = chunk->next.load(std::memory_order_acquire)) {
      for (const Slot& slot : chunk->slots) {
        const uint16_t status = slot.status.load(std::memory_order_acquire);
        if (status == 0) return;
        for (int i = 0; i < kCodeVariants; ++i) {
          const uint64_t count = slot.counts[i].load(std::memory_order_relaxed);
          if (count > 0) visit(status, static_cast<CodeVariant>(i), count);
        }
      }
    }
  }

 private:
  static constexpr int kSlotsPerChunk = 6;
  struct Slot {
    std::atomic<uint16_t> status{0};
    std::atomic<uint64_t> counts[kCodeVariants] = {};
  };
  struct Chunk {
    Slot slots[kSlotsPerChunk];
    std::atomic<Chunk*> next{nullptr};
  };

  static void bump(std::atomic<uint64_t>& count) {
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  Slot& slotOf(uint16_t status) {
    std::atomic<Chunk*>* link = &next_;
    for (;;) {
      Chunk* chunk = link->load(std::memory_order_relaxed);
      if (!chunk) {
        chunk = new Chunk;
        link->store(chunk, std::memory_order_release);
      }
      for (Slot& slot : chunk->slots) {
        const uint16_t taken = slot.status.load(std::memory_order_relaxed);
        if (taken == status) return slot;
        if (taken == 0) {
          slot.status.store(status, std::memory_order_release);
          return slot;
        }
      }
      link = &chunk->next;
    }
  }

  std::atomic<Chunk*> next_{nullptr};
};

}  // namespace fairlead::stats
