// Work that other threads hand to a loop's thread: rare, so a lock and an eventfd serve well.
// post() may be called from any thread; everything else is the loop's.
#pragma once

#include <functional>
#include <vector>

#include "base/mutex.h"
#include "net/event_handler.h"
#include "net/file_descriptor.h"

namespace fairlead::net {

class Inbox : public EventHandler {
 public:
  Inbox();

  // Any thread. The task runs on the loop's thread at the top of one of its next turns, in order;
  // or never, once the inbox is closed.
  void post(std::function<void()> task);

  // Drops what waits, and what comes from here on.
  void close();

  // Negative: the system has no descriptor for it.
  int fd() const { return event_.get(); }
  void onEvents(uint32_t events) override;

 private:
  FileDescriptor event_;
  Mutex mutex_;
  // Guarded by mutex_, both.
  std::vector<std::function<void()>> tasks_;
  bool is_closed_ = false;
};

}  // namespace fairlead::net
