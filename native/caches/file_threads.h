// Threads that read and write files, so that no worker waits for a disk. Owned by the stores
// (caches/cache_stores.h), which outlive who posts.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "base/thread.h"

namespace fairlead::caches {

class FileThreads {
 public:
  // 0: one for each processor.
  static Result<std::unique_ptr<FileThreads>> start(unsigned count);
  explicit FileThreads(unsigned asked) : asked_(asked) {}
  FileThreads(const FileThreads&) = delete;
  FileThreads& operator=(const FileThreads&) = delete;
  ~FileThreads() { stop(); }

  // As many as were asked for.
  unsigned asked() const { return asked_; }
  // Any thread. Tasks begin in order, and may run beside each other.
  void post(std::function<void()> task);
  // The control thread. What has begun is finished, all else is dropped.
  void stop();

 private:
  void run();

  const unsigned asked_;
  Mutex mutex_;
  std::condition_variable_any wakes_;
  // Guarded by mutex_, both.
  std::deque<std::function<void()>> tasks_;
  bool is_stopping_ = false;
  std::vector<std::unique_ptr<Thread>> threads_;
};

}  // namespace fairlead::caches
