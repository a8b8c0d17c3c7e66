#include "caches/memory_cache.h"

#include "net/loop.h"
#include "test/native/test.h"

namespace fairlead::caches {

namespace {

EntryRef entryOf(size_t body_bytes) {
  auto entry = std::make_shared<Entry>();
  entry->status = 200;
  entry->headers.save({}, {}, {}, http::HeaderMap());
  entry->body = std::make_shared<const std::string>(body_bytes, 'a');
  entry->body_bytes = body_bytes;
  return entry;
}

EntryRef find(MemoryCache& cache, const std::string& key) {
  net::Loop loop;
  EntryRef found;
  EXPECT(cache.lookup(key, {loop, 0}, nullptr, &found));
  return found;
}

}  // namespace

TEST("A cache in memory has what was put there last") {
  MemoryCache cache;
  EXPECT(!find(cache, "a"));
  cache.put("a", entryOf(1));
  cache.put("a", entryOf(2));
  EXPECT_EQ(find(cache, "a")->body_bytes, 2u);
  EXPECT(!find(cache, "b"));
}

TEST("A cache in memory stays within its limit, and keeps what is used") {
  MemoryCache cache(100 * 1024);
  for (int i = 0; i < 1000; ++i) {
    cache.put("key " + std::to_string(i), entryOf(1024));
    cache.put("used", entryOf(10));
  }
  // One entry of each shard may be too much.
  EXPECT(cache.bytes() < 100 * 1024 + 16 * 2048);
  EXPECT(find(cache, "used") != nullptr);
  EXPECT(!find(cache, "key 0"));
}

TEST("What is too large for a cache in memory is not kept") {
  MemoryCache cache(16 * 1024);
  net::Loop loop;
  auto head = std::make_shared<Entry>();
  head->headers.save({}, {}, {}, http::HeaderMap());
  const auto insertion = cache.insert("a", head, {loop, 0}, nullptr);
  insertion->append(std::string(600, 'a'));
  insertion->append(std::string(600, 'a'));
  insertion->commit(nullptr);
  EXPECT(!find(cache, "a"));
}

TEST("A head is only replaced where its answer still is what it was") {
  MemoryCache cache;
  net::Loop loop;
  const EntryRef first = entryOf(1);
  cache.put("a", first);
  cache.put("a", entryOf(2));
  cache.update("a", first, entryOf(3), {loop, 0});
  EXPECT_EQ(find(cache, "a")->body_bytes, 2u);
}

}  // namespace fairlead::caches
