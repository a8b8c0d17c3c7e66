// A request that waits until the host that it names has been looked up: its head until then. Owned
// by its router, which uses it again; the worker's thread.
#pragma once

#include <string>
#include <utility>

#include "http/message.h"
#include "http/saved_head.h"
#include "upstream/name_cache.h"

namespace fairlead::proxy {

class HostWaitOwner {
 public:
  // The request waits no longer. `failure`: why there is no such host; empty: there is one.
  virtual void onHostName(const std::string& failure) = 0;

 protected:
  ~HostWaitOwner() = default;
};

class HostWait final : private upstream::NameWaiter {
 public:
  explicit HostWait(HostWaitOwner& owner) : owner_(owner) {}
  ~HostWait() { stop(); }

  bool isWaiting() const { return cache_ != nullptr; }
  // Who waits has entered the cache, and leaves it when it waits no longer.
  upstream::NameWaiter& waiter() { return *this; }
  void begin(upstream::NameCache& cache, const http::RequestHead& request) {
    cache_ = &cache;
    head.save(request.method, request.path, request.authority, request.headers);
  }
  void stop() {
    if (!cache_) return;
    NameWaiter::unlink();
    std::exchange(cache_, nullptr)->leave();
    head.unset();
  }

  http::SavedHead head;

 private:
  void onName(const upstream::KnownName& name) override { owner_.onHostName(name.failure); }

  HostWaitOwner& owner_;
  // Null: nobody waits. The request holds the cluster that has it.
  upstream::NameCache* cache_ = nullptr;
};

}  // namespace fairlead::proxy
