// The contract of an HTTP filter. A connection manager has a config of each of its filters, shared
// by all workers and immutable but for its statistics; a request has an instance of each that its
// route leaves on. An absent filter costs nothing.
//
// A request passes its filters in the order of the configuration, its answer in the opposite one.
// All calls are on the worker's thread; heads and views live until the call returns. Answers that
// the proxy makes itself pass all filters as well, even when the request has not come to them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <string_view>

#include "base/arena.h"
#include "base/result.h"
#include "base/runtime_slots.h"
#include "filters/http/local_reply.h"
#include "http/message.h"
#include "net/timer_wheel.h"
#include "route/request_view.h"
#include "stats/registry.h"
#include "upstream/worker_clusters.h"

namespace fairlead::filters {

enum class FilterStatus : uint8_t {
  Continue,
  // The filter keeps the request: it takes what is still to come of it, and answers in the end.
  Stop,
  // answer() is to be sent, now.
  Answer,
};

// What filters tell the stream beside their statuses.
struct FilterNotes {
  // The request is left out of statistics, and of logs that want no health checks.
  bool is_health_check = false;
  // Bodies of answers may not go past user space.
  bool sees_response_body = false;
};

// Where a filter works. Lives as long as the filter.
struct FilterScope {
  upstream::WorkerClusters& clusters;
  unsigned worker;
  net::Millis now;
  // A random number of this request.
  uint64_t stream_id;
  FilterNotes& notes;
};

class HttpFilter {
 public:
  virtual ~HttpFilter() = default;

  // `end`: the request has no body.
  virtual FilterStatus onRequestHead(http::RequestHead& head, const route::RequestView& view,
                                     bool end) {
    return FilterStatus::Continue;
  }
  virtual FilterStatus onRequestData(std::string_view data, bool end) {
    return FilterStatus::Continue;
  }
  virtual FilterStatus onRequestTrailers(http::HeaderMap& trailers) {
    return FilterStatus::Continue;
  }
  // After FilterStatus::Answer. Its views live until the filter ends.
  virtual LocalReply answer() const { return {500, {}, {}}; }
  // The head as it goes to a host.
  virtual void onRequestForwarded(const http::RequestHead& head) {}

  // Values that are set live as long as the call's head, or in the arena.
  virtual void onResponseHead(uint16_t status, http::HeaderMap& headers, bool end, Arena& arena) {}
  // The head as it goes to the client.
  virtual void onResponseSent(uint16_t status, const http::HeaderMap& headers) {}
  virtual void onResponseData(std::string_view data, bool end) {}
  virtual void onResponseTrailers(const http::HeaderMap& trailers) {}

  // Nothing more comes.
  virtual void onEnd() {}
};

// Where the filters of a request are made: no allocation once it has grown to its size.
class FilterMemory {
 public:
  template <typename Filter, typename... Arguments>
  HttpFilter* make(Arguments&&... arguments) {
    constexpr size_t kAlign = alignof(Filter);
    char* at = arena_.allocate(sizeof(Filter) + kAlign - 1);
    at += (kAlign - reinterpret_cast<uintptr_t>(at) % kAlign) % kAlign;
    return new (at) Filter(std::forward<Arguments>(arguments)...);
  }
  // The filters have been destroyed.
  void reset() { arena_.reset(); }

 private:
  Arena arena_{512};
};

class HttpFilterConfig {
 public:
  virtual ~HttpFilterConfig() = default;
  // Null: nothing is to be done for this request.
  virtual HttpFilter* make(FilterMemory& memory, const FilterScope& scope) const = 0;
};

using BuiltFilter = Result<std::shared_ptr<const HttpFilterConfig>>;

class Taps;

// What a config may be built with, beside its plan. The control thread's.
struct ConfigScope {
  stats::Registry& registry;
  // The connection manager's: "http.<prefix>."
  const stats::Scope stats;
  unsigned workers;
  RuntimeSlots& slots;
  // POST /healthcheck/fail has been asked for.
  std::shared_ptr<const std::atomic<bool>> health_check_failed;
  Taps& taps;
};

}  // namespace fairlead::filters
