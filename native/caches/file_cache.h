// Answers in files of one folder, read and written on threads of their own (caches/file_threads.h);
// each is there as a whole or not at all. Other processes may use the folder as well. Shared by the
// filters that name it.
//
// Always holds: what touches a disk runs on those threads, and what it found out is told and
// counted on the thread of the worker that asked.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_set>

#include "base/mutex.h"
#include "caches/cache.h"
#include "caches/file_threads.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"

namespace fairlead::caches {

class FileCache final : public Cache, public std::enable_shared_from_this<FileCache> {
 public:
  // The control thread; looks what there is in the folder, which may be missing.
  FileCache(const plan::FileCache& plan, FileThreads& threads, stats::Registry& registry);

  const plan::FileCache& plan() const { return plan_; }

  bool lookup(const std::string& key, const Place& place, const TicketRef& ticket,
              EntryRef* found) override;
  void read(const EntryRef& entry, uint64_t offset, size_t most, const Place& place,
            const TicketRef& ticket) override;
  std::unique_ptr<Insertion> insert(std::string key, std::shared_ptr<Entry> head,
                                    const Place& place, const TicketRef& ticket) override;
  void update(const std::string& key, const EntryRef& old, EntryRef entry,
              const Place& place) override;

  // ---- of its insertions, on its threads ----
  FileThreads& threads() { return threads_; }
  // A new file that nobody looks up. Invalid: errno says why.
  struct NewFile {
    net::FileDescriptor descriptor;
    std::string path;
  };
  NewFile makeFile();
  // It becomes that of the key.
  bool publish(const NewFile& file, const std::string& key, uint64_t bytes, const Place& place);
  // Any thread.
  void endWriting(const std::string& key);

 private:
  // What became of files, for statistics.
  struct Change {
    uint64_t added_bytes = 0;
    uint64_t added_files = 0;
    uint64_t gone_bytes = 0;
    uint64_t gone_files = 0;
    uint64_t eviction_runs = 0;
  };

  // False: somebody else writes it.
  bool beginWriting(const std::string& key);
  std::string pathOf(const std::string& key) const;
  void measure();
  bool isOverLimit() const;
  void writeHead(const std::string& key, const Entry& entry, const Place& place);
  Change evict();
  void tell(const Change& change, const Place& place);

  const plan::FileCache plan_;
  FileThreads& threads_;
  // As far as this process knows: looked up anew whenever something has to go.
  std::atomic<uint64_t> bytes_ = 0;
  std::atomic<uint64_t> files_ = 0;
  std::atomic<bool> is_evicting_ = false;
  std::atomic<uint64_t> next_name_ = 0;
  Mutex mutex_;
  // Guarded by mutex_: keys that somebody is writing.
  std::unordered_set<std::string> writing_;
  std::shared_ptr<stats::Block<stats::CacheEvents>> events_;
  std::shared_ptr<stats::Block<stats::CachePathCounter>> eviction_runs_;
  std::shared_ptr<stats::Block<stats::CachePathGauge>> size_bytes_;
  std::shared_ptr<stats::Block<stats::CachePathGauge>> size_count_;
  std::shared_ptr<stats::Block<stats::CachePathGauge>> limit_bytes_;
  std::shared_ptr<stats::Block<stats::CachePathGauge>> limit_count_;
};

}  // namespace fairlead::caches
