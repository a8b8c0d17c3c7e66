#include "net/inbox.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <utility>

namespace fairlead::net {

Inbox::Inbox() : event_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

void Inbox::post(std::function<void()> task) {
  {
    const std::lock_guard lock(mutex_);
    if (is_closed_) return;
    tasks_.push_back(std::move(task));
    // Whoever left the first task wakes the loop for all of them.
    if (tasks_.size() > 1) return;
  }
  const uint64_t one = 1;
  // Fails only when the counter is full: then a wake-up is pending anyway.
  [[maybe_unused]] const ssize_t written = ::write(event_.get(), &one, sizeof(one));
}

void Inbox::close() {
  std::vector<std::function<void()>> dropped;
  const std::lock_guard lock(mutex_);
  is_closed_ = true;
  dropped.swap(tasks_);
}

void Inbox::onEvents(uint32_t) {
  uint64_t count;
  [[maybe_unused]] const ssize_t got = ::read(event_.get(), &count, sizeof(count));
  std::vector<std::function<void()>> tasks;
  {
    const std::lock_guard lock(mutex_);
    tasks.swap(tasks_);
  }
  for (auto& task : tasks) task();
}

}  // namespace fairlead::net
