#include "caches/cache_stores.h"

#include <utility>

#include "caches/memory_cache.h"

namespace fairlead::caches {

CacheStores::CacheStores(unsigned workers) {
  for (unsigned i = 0; i < workers; ++i) workers_.push_back(std::make_unique<CacheWorker>());
}

CacheStores::~CacheStores() {
  stop();
  for (const auto& worker : workers_) {
    while (Fetching* const one = worker->fetching.popFront()) delete one;
  }
}

void CacheStores::stop() {
  for (const auto& [name, threads] : threads_) threads->stop();
}

std::shared_ptr<Cache> CacheStores::memory() {
  if (std::shared_ptr<Cache> existing = memory_.lock()) return existing;
  auto made = std::make_shared<MemoryCache>();
  memory_ = made;
  return made;
}

Result<std::shared_ptr<Cache>> CacheStores::files(const plan::FileCache& plan,
                                                  stats::Registry& registry) {
  if (const std::shared_ptr<FileCache> existing = files_[plan.path].lock()) {
    const plan::FileCache& other = existing->plan();
    if (other.max_bytes != plan.max_bytes || other.max_entries != plan.max_entries ||
        other.manager != plan.manager || other.threads != plan.threads) {
      return Error{"mismatched FileSystemHttpCacheConfig with same path " + plan.path};
    }
    return std::shared_ptr<Cache>(existing);
  }
  std::unique_ptr<FileThreads>& threads = threads_[plan.manager];
  if (threads && threads->asked() != plan.threads) {
    return Error{"AsyncFileManager mismatched config with the same id \"" + plan.manager + "\""};
  }
  if (!threads) {
    auto started = FileThreads::start(plan.threads);
    if (!started) return started.error();
    threads = std::move(started.value());
  }
  auto made = std::make_shared<FileCache>(plan, *threads, registry);
  files_[plan.path] = made;
  return std::shared_ptr<Cache>(std::move(made));
}

}  // namespace fairlead::caches
