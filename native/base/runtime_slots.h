// Numbers that follow the control plane's runtime values while workers read them. A plan names them
// by slot; a number without a slot stays what the plan says.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>

namespace fairlead {

// Owned by the data plane, and outlives all that is built from plans. The control thread's, but for
// the slots themselves: one writer, any reader, relaxed.
class RuntimeSlots {
 public:
  using Slot = std::atomic<uint64_t>;

  // Its address stays.
  Slot& at(uint32_t number) {
    std::unique_ptr<Slot>& slot = slots_[number];
    if (!slot) slot = std::make_unique<Slot>(0);
    return *slot;
  }

  // values[0] is slot 1's.
  void set(std::span<const uint64_t> values) {
    uint32_t number = 0;
    for (const uint64_t value : values) at(++number).store(value, std::memory_order_relaxed);
  }

 private:
  std::unordered_map<uint32_t, std::unique_ptr<Slot>> slots_;
};

class RuntimeNumber {
 public:
  RuntimeNumber() = default;
  // `slot` 0, or no `slots`: `now` for ever.
  RuntimeNumber(uint64_t now, uint32_t slot, RuntimeSlots* slots) : fixed_(now) {
    if (slot == 0 || !slots) return;
    live_ = &slots->at(slot);
    live_->store(now, std::memory_order_relaxed);
  }

  uint64_t value() const { return live_ ? live_->load(std::memory_order_relaxed) : fixed_; }

 private:
  uint64_t fixed_ = 0;
  RuntimeSlots::Slot* live_ = nullptr;
};

}  // namespace fairlead
