// All stores of answers, and what workers have of them: who names the same one has the same one.
// Owned by the data plane; the control thread's, but for what is a worker's.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/arena.h"
#include "base/list.h"
#include "caches/cache.h"
#include "caches/file_cache.h"
#include "caches/file_threads.h"
#include "http/message.h"

namespace fairlead::caches {

// What a worker fetches for a store goes on though who asked for it has left; it ends itself, or
// with its worker.
class Fetching : public ListNode<Fetching> {
 public:
  virtual ~Fetching() = default;
};

// One worker's.
struct CacheWorker {
  // Owned: whoever ends takes itself out.
  List<Fetching> fetching;
  // For the head of an answer that is given. Made for the first: it is large.
  std::unique_ptr<http::HeaderMap> headers;

  http::HeaderMap& scratch() {
    if (!headers) headers = std::make_unique<http::HeaderMap>();
    return *headers;
  }
};

class CacheStores {
 public:
  explicit CacheStores(unsigned workers);
  CacheStores(const CacheStores&) = delete;
  CacheStores& operator=(const CacheStores&) = delete;
  // The workers are gone.
  ~CacheStores();

  // The one of the process.
  std::shared_ptr<Cache> memory();
  // The one of that path. Refused: it is in use with other settings.
  Result<std::shared_ptr<Cache>> files(const plan::FileCache& plan, stats::Registry& registry);
  // No thread of files posts to workers any more.
  void stop();

  CacheWorker& worker(unsigned index) { return *workers_[index]; }

 private:
  std::vector<std::unique_ptr<CacheWorker>> workers_;
  // As long as somebody uses it.
  std::weak_ptr<Cache> memory_;
  // By path.
  std::map<std::string, std::weak_ptr<FileCache>> files_;
  // By the names of their managers. Until the end: a task may hold the last cache of theirs.
  std::map<std::string, std::unique_ptr<FileThreads>> threads_;
};

}  // namespace fairlead::caches
