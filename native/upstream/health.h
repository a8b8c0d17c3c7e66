// What is known of a host's health, and the way of what changes it: whoever finds that out (the
// checker, outlier detection, a request) posts it, the control thread writes it to the host and
// publishes it in the next host set. So a host set is made of flags that nobody changes meanwhile.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "upstream/cluster_life.h"

namespace fairlead::upstream {

class Host;

// Bits, any of which may be set; in the order in which /clusters names them. The `Eds` ones are
// what an assignment says (HostSettings), and never change otherwise.
enum class HealthFlag : uint32_t {
  FailedActive = 1 << 0,
  FailedOutlier = 1 << 1,
  FailedEds = 1 << 2,
  DegradedActive = 1 << 3,
  DegradedEds = 1 << 4,
  // Discovery names it no more; it stays until a check fails.
  PendingRemoval = 1 << 5,
  // It has not been checked yet, and is not counted until then.
  PendingActive = 1 << 6,
  // It has said so itself (x-envoy-immediate-health-check-fail), and is not counted.
  ExcludedImmediately = 1 << 7,
  // What failed was a time limit.
  ActiveTimeout = 1 << 8,
  DrainingEds = 1 << 9,
  DegradedOutlier = 1 << 10,
};

class HealthFlags {
 public:
  constexpr HealthFlags() = default;
  constexpr HealthFlags(HealthFlag flag) : bits_(static_cast<uint32_t>(flag)) {}
  static constexpr HealthFlags ofBits(uint32_t bits) {
    HealthFlags flags;
    flags.bits_ = bits;
    return flags;
  }

  constexpr uint32_t bits() const { return bits_; }
  constexpr bool empty() const { return bits_ == 0; }
  // Any of them.
  constexpr bool has(HealthFlags any) const { return (bits_ & any.bits_) != 0; }
  constexpr HealthFlags operator|(HealthFlags other) const { return ofBits(bits_ | other.bits_); }
  constexpr HealthFlags without(HealthFlags other) const { return ofBits(bits_ & ~other.bits_); }
  constexpr bool operator==(const HealthFlags&) const = default;

 private:
  uint32_t bits_ = 0;
};

constexpr HealthFlags operator|(HealthFlag a, HealthFlag b) { return HealthFlags(a) | b; }

// It gets nothing, but in panic.
constexpr HealthFlags kUnhealthyFlags = HealthFlag::FailedActive | HealthFlag::FailedOutlier |
                                        HealthFlag::FailedEds | HealthFlag::DrainingEds;
// It gets something where healthy hosts are too few.
constexpr HealthFlags kDegradedFlags =
    HealthFlag::DegradedActive | HealthFlag::DegradedEds | HealthFlag::DegradedOutlier;
// It counts neither as healthy nor as lost.
constexpr HealthFlags kExcludedFlags =
    HealthFlag::PendingActive | HealthFlag::ExcludedImmediately | HealthFlag::DrainingEds;

// "/failed_active_hc/active_hc_timeout"; "healthy": none is set.
std::string healthText(HealthFlags flags);

// What somebody has found out about a host.
struct HealthChange {
  // Whose it is, which may be over.
  ClusterLife cluster = kNoClusterLife;
  // One that has left its cluster meanwhile has none any more.
  std::weak_ptr<Host> host;
  // Cleared before others are set.
  HealthFlags cleared = {};
  HealthFlags set = {};
  // It is the result of its first check.
  bool is_first = false;
  // It has said in an answer that it is not well: the checker is to hear of it.
  bool is_said = false;
  // The round of checks that the cluster waits for is over; there is no host.
  bool ends_round = false;
};

// What has been found out and not been published yet.
class HealthInbox {
 public:
  // `wake`: asks that the control thread takes what is here, soon. Called on any thread; null: the
  // control thread looks by itself.
  explicit HealthInbox(std::function<void()> wake) : wake_(std::move(wake)) {}

  // Any thread.
  void post(HealthChange change) {
    bool is_first;
    {
      const std::lock_guard lock(mutex_);
      is_first = changes_.empty();
      changes_.push_back(std::move(change));
    }
    if (is_first && wake_) wake_();
  }
  // The control thread, in the order in which they were posted.
  std::vector<HealthChange> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(changes_, {});
  }

 private:
  const std::function<void()> wake_;
  Mutex mutex_;
  std::vector<HealthChange> changes_;  // Guarded by mutex_.
};

}  // namespace fairlead::upstream
