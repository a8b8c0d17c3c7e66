// Answers in memory, for the whole process: in shards with a lock each, so that workers seldom
// meet. Any thread.
//
// Always holds: what is stored takes no more than `most_bytes`, but for one entry of each shard;
// whatever was not used for longest goes first.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/list.h"
#include "base/mutex.h"
#include "caches/cache.h"

namespace fairlead::caches {

class MemoryCache final : public Cache {
 public:
  // The real server has no limit: who asks for enough addresses takes all the memory there is.
  static constexpr size_t kMostBytes = size_t{512} << 20;

  explicit MemoryCache(size_t most_bytes = kMostBytes) : most_bytes_(most_bytes) {}

  bool lookup(const std::string& key, const Place& place, const TicketRef& ticket,
              EntryRef* found) override;
  std::unique_ptr<Insertion> insert(std::string key, std::shared_ptr<Entry> head,
                                    const Place& place, const TicketRef& ticket) override;
  void update(const std::string& key, const EntryRef& old, EntryRef entry,
              const Place& place) override;

  void put(std::string key, EntryRef entry);
  // Of one entry, its body.
  size_t mostBodyBytes() const { return most_bytes_ / kShards; }
  size_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  static constexpr size_t kShards = 16;

  struct Slot final : ListNode<Slot> {
    std::string key;
    EntryRef entry;
    size_t bytes = 0;
  };
  struct Shard {
    Mutex mutex;
    // By key, which is the slot's.
    std::unordered_map<std::string_view, std::unique_ptr<Slot>> slots;
    // The one that was used last is the last one.
    List<Slot> by_use;
  };

  Shard& shardOf(std::string_view key) {
    return shards_[std::hash<std::string_view>()(key) % kShards];
  }
  // What goes is the caller's to destroy, without the lock.
  void takeOut(Shard& shard, std::string_view key, std::vector<std::unique_ptr<Slot>>* gone);
  void makeRoom(Shard& shard, const Slot* keep, std::vector<std::unique_ptr<Slot>>* gone);

  const size_t most_bytes_;
  std::atomic<size_t> bytes_ = 0;
  std::array<Shard, kShards> shards_;
};

}  // namespace fairlead::caches
