#include "caches/file_threads.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace fairlead::caches {

Result<std::unique_ptr<FileThreads>> FileThreads::start(unsigned count) {
  auto threads = std::make_unique<FileThreads>(count);
  if (count == 0) count = std::max(1u, std::thread::hardware_concurrency());
  for (unsigned i = 0; i < count; ++i) {
    auto thread = std::make_unique<Thread>();
    FileThreads* const of = threads.get();
    if (const int error = thread->start([of] { of->run(); })) {
      return Error{std::string("cannot start a thread that reads and writes files: ") +
                   std::strerror(error)};
    }
    threads->threads_.push_back(std::move(thread));
  }
  return threads;
}

void FileThreads::post(std::function<void()> task) {
  {
    const std::scoped_lock lock(mutex_);
    if (is_stopping_) return;
    tasks_.push_back(std::move(task));
  }
  wakes_.notify_one();
}

void FileThreads::stop() {
  std::deque<std::function<void()>> dropped;
  {
    const std::scoped_lock lock(mutex_);
    is_stopping_ = true;
    dropped.swap(tasks_);
  }
  wakes_.notify_all();
  threads_.clear();
}

void FileThreads::run() {
  for (;;) {
    std::function<void()> task;
    {
      std::unique_lock lock(mutex_);
      wakes_.wait(lock, [this] { return is_stopping_ || !tasks_.empty(); });
      if (is_stopping_) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
  }
}

}  // namespace fairlead::caches
