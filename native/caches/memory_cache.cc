#include "caches/memory_cache.h"

#include <mutex>
#include <utility>

namespace fairlead::caches {

namespace {

// What an entry takes beside its body and its head, about.
constexpr size_t kEntryBytes = 512;

size_t bytesOf(const http::SavedHead& head) {
  if (!head.isSet()) return 0;
  http::HeaderMap headers;
  head.restore(&headers);
  size_t bytes = 0;
  for (const http::HeaderEntry& entry : headers) {
    bytes += sizeof(entry) + entry.name_size + entry.value_size;
  }
  return bytes;
}

class MemoryInsertion final : public Insertion {
 public:
  MemoryInsertion(MemoryCache& cache, std::string key, std::shared_ptr<Entry> entry)
      : cache_(cache), key_(std::move(key)), entry_(std::move(entry)) {}

  void append(std::string_view data) override {
    if (!body_) return;
    if (body_->size() + data.size() > cache_.mostBodyBytes()) {
      body_.reset();
      return;
    }
    body_->append(data);
  }
  void commit(const http::HeaderMap* trailers) override {
    if (!body_) return;
    if (trailers) entry_->trailers.save({}, {}, {}, *trailers);
    body_->shrink_to_fit();
    entry_->body_bytes = body_->size();
    entry_->body = std::move(body_);
    cache_.put(std::move(key_), std::move(entry_));
  }

 private:
  MemoryCache& cache_;
  std::string key_;
  std::shared_ptr<Entry> entry_;
  // Null: it is too large.
  std::shared_ptr<std::string> body_ = std::make_shared<std::string>();
};

}  // namespace

bool MemoryCache::lookup(const std::string& key, const Place&, const TicketRef&, EntryRef* found) {
  Shard& shard = shardOf(key);
  const std::scoped_lock lock(shard.mutex);
  const auto at = shard.slots.find(key);
  if (at == shard.slots.end()) {
    found->reset();
    return true;
  }
  Slot& slot = *at->second;
  slot.unlink();
  shard.by_use.pushBack(&slot);
  *found = slot.entry;
  return true;
}

std::unique_ptr<Insertion> MemoryCache::insert(std::string key, std::shared_ptr<Entry> head,
                                               const Place&, const TicketRef&) {
  return std::make_unique<MemoryInsertion>(*this, std::move(key), std::move(head));
}

void MemoryCache::update(const std::string& key, const EntryRef& old, EntryRef entry,
                         const Place&) {
  {
    Shard& shard = shardOf(key);
    const std::scoped_lock lock(shard.mutex);
    const auto at = shard.slots.find(key);
    if (at == shard.slots.end() || at->second->entry != old) return;
  }
  put(key, std::move(entry));
}

void MemoryCache::put(std::string key, EntryRef entry) {
  auto slot = std::make_unique<Slot>();
  slot->bytes = kEntryBytes + key.size() + bytesOf(entry->headers) + bytesOf(entry->trailers) +
                entry->body_bytes;
  slot->key = std::move(key);
  slot->entry = std::move(entry);
  // What goes is destroyed without the lock.
  std::vector<std::unique_ptr<Slot>> gone;
  Shard& shard = shardOf(slot->key);
  const std::scoped_lock lock(shard.mutex);
  takeOut(shard, slot->key, &gone);
  Slot* const added = slot.get();
  shard.by_use.pushBack(added);
  bytes_.fetch_add(added->bytes, std::memory_order_relaxed);
  shard.slots.emplace(std::string_view(added->key), std::move(slot));
  makeRoom(shard, added, &gone);
}

void MemoryCache::takeOut(Shard& shard, std::string_view key,
                          std::vector<std::unique_ptr<Slot>>* gone) {
  const auto at = shard.slots.find(key);
  if (at == shard.slots.end()) return;
  at->second->unlink();
  bytes_.fetch_sub(at->second->bytes, std::memory_order_relaxed);
  // The key is the slot's, which outlives its place.
  gone->push_back(std::move(at->second));
  shard.slots.erase(at);
}

// Each shard sees to what comes to it: together they stay within the limit.
void MemoryCache::makeRoom(Shard& shard, const Slot* keep,
                           std::vector<std::unique_ptr<Slot>>* gone) {
  while (bytes() > most_bytes_) {
    const Slot* const oldest = shard.by_use.front();
    if (!oldest || oldest == keep) return;
    takeOut(shard, oldest->key, gone);
  }
}

}  // namespace fairlead::caches
