// What one worker goes by at one place of the configuration, and what was there before that its
// requests still stand on. Shared by all workers, but counted by each alone, without atomics: the
// worker's thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

namespace fairlead {

// Keeps a thing; empty: there is none.
template <typename T>
class WorkerPin {
 public:
  WorkerPin() = default;
  explicit WorkerPin(std::shared_ptr<const T> thing)
      : WorkerPin(thing ? new Pinned{std::move(thing)} : nullptr) {}
  WorkerPin(const WorkerPin& other) : WorkerPin(other.pinned_) {}
  WorkerPin(WorkerPin&& other) noexcept : pinned_(std::exchange(other.pinned_, nullptr)) {}
  WorkerPin& operator=(WorkerPin other) noexcept {
    std::swap(pinned_, other.pinned_);
    return *this;
  }
  ~WorkerPin() { reset(); }

  void reset() {
    Pinned* const pinned = std::exchange(pinned_, nullptr);
    if (pinned && --pinned->pins == 0) delete pinned;
  }
  explicit operator bool() const { return pinned_ != nullptr; }
  const T* operator->() const { return pinned_->thing.get(); }
  const T& operator*() const { return *pinned_->thing; }

 private:
  // Gone with the last that goes by it here.
  struct Pinned {
    const std::shared_ptr<const T> thing;
    uint32_t pins = 0;
  };

  explicit WorkerPin(Pinned* pinned) : pinned_(pinned) {
    if (pinned_) ++pinned_->pins;
  }

  Pinned* pinned_ = nullptr;
};

}  // namespace fairlead
