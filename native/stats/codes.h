// Answers counted by status: upstream_rq_200, upstream_rq_2xx, upstream_rq_completed and the same
// by where the request came from. A status takes a slot when it is first seen. One writer, any
// readers.
#pragma once

#include <algorithm>
#include <atomic>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace fairlead::stats {

// Under which names an answer is counted: the plain ones, or those with a prefix for its origin.
// What belongs under several is counted once for each.
enum class CodeVariant : uint8_t { Canary, External, Internal, Retry, All };
constexpr int kCodeVariants = 5;

// The name of one such counter. Ordered as the names are.
class CodeName {
 public:
  CodeName() = default;
  static constexpr CodeName status(CodeVariant variant, int status) {
    return {variant, status * 2};
  }
  // 1 to 5: upstream_rq_1xx to upstream_rq_5xx.
  static constexpr CodeName family(CodeVariant variant, int digit) {
    return {variant, (digit * 100 + 99) * 2 + 1};
  }
  static constexpr CodeName completed(CodeVariant variant) { return {variant, kCompleted}; }
  // Of statuses outside 100 to 599.
  static constexpr CodeName unknown(CodeVariant variant) { return {variant, kUnknown}; }

  // "external.upstream_rq_200" or "upstream_rq_unknown": what answers are counted under one by one;
  // "retry.upstream_rq_completed": of those that have no status. The other names follow from these.
  static std::optional<CodeName> parseCounted(std::string_view text) {
    for (int i = 0; i < kCodeVariants; ++i) {
      const auto variant = static_cast<CodeVariant>(i);
      const std::string_view prefix = unknown(variant).prefix();
      if (!text.starts_with(prefix)) continue;
      std::string_view rest = text.substr(prefix.size());
      constexpr std::string_view kStem = "upstream_rq_";
      if (!rest.starts_with(kStem)) continue;
      rest.remove_prefix(kStem.size());
      if (rest == "unknown") return unknown(variant);
      // The plain one may be a counter of the scope, and no answer is counted under it alone.
      if (rest == "completed" && variant != CodeVariant::All) return completed(variant);
      const auto isDigit = [](char c) { return c >= '0' && c <= '9'; };
      if (rest.size() != 3 || !std::all_of(rest.begin(), rest.end(), isDigit)) continue;
      const int number = (rest[0] - '0') * 100 + (rest[1] - '0') * 10 + (rest[2] - '0');
      if (number >= 100 && number <= 599) return status(variant, number);
    }
    return std::nullopt;
  }
  bool isUnknown() const { return place() == kUnknown; }
  bool isCompleted() const { return place() == kCompleted; }

  auto operator<=>(const CodeName&) const = default;

  CodeVariant variant() const { return static_cast<CodeVariant>(rank_ >> 12); }
  // 0 when the name is not of that form.
  int statusNumber() const { return place() < kCompleted && place() % 2 == 0 ? place() / 2 : 0; }
  int familyDigit() const { return place() < kCompleted && place() % 2 == 1 ? place() / 200 : 0; }

  // "external." or nothing.
  std::string_view prefix() const {
    constexpr std::string_view kPrefixes[] = {"canary.", "external.", "internal.", "retry.", ""};
    return kPrefixes[static_cast<int>(variant())];
  }
  // "external.upstream_rq_2xx"
  void appendTo(std::string* out) const {
    out->append(prefix()).append("upstream_rq_");
    if (const int status = statusNumber()) {
      out->append(std::to_string(status));
    } else if (const int digit = familyDigit()) {
      out->append(std::to_string(digit)).append("xx");
    } else {
      out->append(place() == kCompleted ? "completed" : "unknown");
    }
  }

 private:
  static constexpr int kCompleted = 2000;
  static constexpr int kUnknown = 2001;
  constexpr CodeName(CodeVariant variant, int place)
      : rank_(static_cast<uint16_t>(static_cast<int>(variant) << 12 | place)) {}
  int place() const { return rank_ & 0xfff; }

  uint16_t rank_ = 0;
};

class CodeCounts {
 public:
  // In place of a status: counted as completed, and under no status.
  static constexpr uint16_t kCompletedOnly = 0xffff;

  CodeCounts() = default;
  CodeCounts(const CodeCounts&) = delete;
  CodeCounts& operator=(const CodeCounts&) = delete;
  ~CodeCounts() {
    for (Chunk* chunk = first_.load(); chunk;) {
      Chunk* next = chunk->next.load();
      delete chunk;
      chunk = next;
    }
  }

  // The owner's.
  void add(CodeVariant variant, uint16_t status, uint64_t amount = 1) {
    const bool is_known = (status >= 100 && status <= 599) || status == kCompletedOnly;
    std::atomic<uint64_t>& count =
        slotOf(is_known ? status : kUnknownStatus).counts[static_cast<int>(variant)];
    count.store(count.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
  // Calls takes(status, variant, count) as forEach() does; what is taken was never counted here.
  template <typename Takes>
  void takeOut(Takes takes) {
    for (Chunk* chunk = first_.load(); chunk; chunk = chunk->next.load()) {
      for (Slot& slot : chunk->slots) {
        const uint16_t status = slot.status.load();
        if (status == 0) return;
        for (int i = 0; i < kCodeVariants; ++i) {
          const uint64_t count = slot.counts[i].load();
          if (count == 0) continue;
          const uint16_t number = status == kUnknownStatus ? 0 : status;
          if (takes(number, static_cast<CodeVariant>(i), count)) slot.counts[i].store(0);
        }
      }
    }
  }

  // Anyone's. Calls visit(status, variant, count) for each that was counted; `status` is 0 for
  // those outside 100 to 599, but for kCompletedOnly.
  template <typename Visit>
  void forEach(Visit visit) const {
    for (const Chunk* chunk = first_.load(std::memory_order_acquire); chunk;
         chunk = chunk->next.load(std::memory_order_acquire)) {
      for (const Slot& slot : chunk->slots) {
        const uint16_t status = slot.status.load(std::memory_order_relaxed);
        if (status == 0) return;
        for (int i = 0; i < kCodeVariants; ++i) {
          const uint64_t count = slot.counts[i].load(std::memory_order_relaxed);
          if (count == 0) continue;
          visit(status == kUnknownStatus ? 0 : status, static_cast<CodeVariant>(i), count);
        }
      }
    }
  }

 private:
  static constexpr int kSlotsPerChunk = 5;
  static constexpr uint16_t kUnknownStatus = 1;
  struct Slot {
    // 0: free, as are all that follow.
    std::atomic<uint16_t> status{0};
    std::atomic<uint64_t> counts[kCodeVariants] = {};
  };
  struct Chunk {
    Slot slots[kSlotsPerChunk];
    std::atomic<Chunk*> next{nullptr};
  };

  // A scope sees few different statuses: a walk over the first few slots finds most.
  Slot& slotOf(uint16_t status) {
    std::atomic<Chunk*>* link = &first_;
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
          slot.status.store(status, std::memory_order_relaxed);
          return slot;
        }
      }
      link = &chunk->next;
    }
  }

  std::atomic<Chunk*> first_{nullptr};
};

}  // namespace fairlead::stats
