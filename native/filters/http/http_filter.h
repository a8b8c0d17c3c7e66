// The contract of an HTTP filter. A connection manager has a config of each of its filters, shared
// by all workers and immutable but for its statistics; a request has an instance of each that its
// route leaves on. An absent filter costs nothing.
//
// A request passes its filters in the order of the configuration, its answer in the opposite one.
// All calls are on the worker's thread; heads and views live until the call returns. Answers that
// the proxy makes itself pass all filters as well, even when the request has not come to them.
//
// A filter may stop either message at its head, in its body or at its trailers, and let it go on
// later; what it stopped is held by the chain (proxy/filter_chain), within limits. `content-length`
// is of the filter's making where it changes a body.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/arena.h"
#include "base/name_ids.h"
#include "base/result.h"
#include "base/runtime_slots.h"
#include "calls/calls.h"
#include "filters/http/filter_place.h"
#include "filters/http/local_reply.h"
#include "filters/http/published.h"
#include "format/filter_metadata.h"
#include "http/message.h"
#include "net/filter_state.h"
#include "net/timer_wheel.h"
#include "route/request_view.h"
#include "route/route.h"
#include "route/route_table.h"
#include "stats/registry.h"
#include "upstream/name_cache.h"
#include "upstream/worker_clusters.h"

namespace fairlead::caches {
class CacheStores;
}

namespace fairlead::filters {

enum class FilterStatus : uint8_t {
  Continue,
  // Nothing goes past the filter until it says that it goes on, by Continue for what comes next or
  // by its place. It still sees what comes. A body waits meanwhile, and whoever sends it when that
  // is more than the limit.
  Pause,
  // The same of a body that is wanted whole: one beyond the limit is answered, 413 or 500.
  Buffer,
  // Of data, and of trailers: the filter keeps them, and gives what it wants to its place.
  Take,
  // Of data: what replacement() says goes on in its place. Of trailers: the same, as the last of
  // the body, and no trailers. Of a head that ends its message: the same, as its body; the head is
  // released before it.
  Replace,
  // answer() is to be sent, now.
  Answer,
  // Of data: the filter takes no more of it. It is answered, as a body beyond the limit is.
  TooLarge,
};

class Compressor;

// What filters tell the stream, and each other, beside their statuses.
struct FilterNotes {
  // The request is left out of statistics, and of logs that want no health checks.
  bool& is_health_check;
  // What logs say of the request.
  format::ResponseFlags& flags;
  std::vector<format::SetMetadata>& metadata;
  // Those that have types of their own; they live as long as the request.
  std::vector<const plan::TypedMetadata*>& typed_metadata;
  // Null: nobody has set any.
  std::unique_ptr<net::FilterState>& filter_state;
  // The host that the first try is to go to; no address: whoever's turn it is.
  struct OverrideHost {
    std::string_view address;
    // No other host will do; what is answered then.
    bool is_strict = false;
    uint16_t strict_status = 503;
    // Set by whoever chooses: it went there.
    bool is_met = false;
  } override_host = {};
  // Bodies of answers may not go past user space.
  bool sees_response_body = false;
  // What changes the answer speaks of the request's head: it is kept.
  bool keeps_request_head = false;
  // What its host is connected to from; null: this machine's own address.
  net::SharedSource source = nullptr;
  // The first of the request's compressors, which know each other; null: there is none.
  Compressor* compressors = nullptr;
};

// Where a filter works. Lives as long as the filter.
struct FilterScope {
  upstream::WorkerClusters& clusters;
  unsigned worker;
  net::Millis now;
  // A random number of this request.
  uint64_t stream_id;
  // Null: there is none.
  const route::Route* route;
  FilterNotes& notes;
  // Of services; null only where tests have none.
  calls::Calls* calls = nullptr;
  // Null: none has come yet.
  const route::RouteTable* table = nullptr;
  // Of that table, where it comes once it is asked for; null: it need not be asked for.
  const std::string* missing_table = nullptr;
};

class HttpFilter {
 public:
  virtual ~HttpFilter() = default;

  // Of a try at a host alone, which is known: before there is a connection. Continue or Answer.
  virtual FilterStatus onHostChosen(const http::RequestHead& head, const route::RequestView& view) {
    return FilterStatus::Continue;
  }
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
  // The head that the filter stopped goes on: the last time to change it. Values that are set live
  // as long as the call's head, or in the arena.
  virtual void onRequestHeadReleased(http::RequestHead& head, Arena& arena) {}
  // The head as it goes to a host.
  virtual void onRequestForwarded(const http::RequestHead& head) {}

  // Values that are set live as long as the call's head, or in the arena.
  virtual FilterStatus onResponseHead(uint16_t status, http::HeaderMap& headers, bool end,
                                      Arena& arena) {
    return FilterStatus::Continue;
  }
  virtual FilterStatus onResponseData(std::string_view data, bool end) {
    return FilterStatus::Continue;
  }
  virtual FilterStatus onResponseTrailers(http::HeaderMap& trailers) {
    return FilterStatus::Continue;
  }
  // As onRequestHeadReleased().
  virtual void onResponseHeadReleased(uint16_t& status, http::HeaderMap& headers, Arena& arena) {}
  // The head as it goes to the client.
  virtual void onResponseSent(uint16_t status, const http::HeaderMap& headers) {}

  // Of an answer that the filter gives in parts: the client takes more. May be inside of the
  // client's handler.
  virtual void onAnswerWritable() {}

  // After FilterStatus::Replace. Lives until the filter is called again.
  virtual std::string_view replacement() const { return {}; }
  // What ends a message behind the last replacement, or where the filter injects it. Values live in
  // the filter or in the arena. False: there are none.
  virtual bool addTrailers(http::HeaderMap& trailers, Arena& arena) const { return false; }

  // After FilterStatus::Answer. Its views live until the filter ends.
  virtual LocalReply answer() const { return {500, {}, {}}; }

  // Nothing more comes; the filter ends with this.
  virtual void onEnd() {}
};

// Where the filters of a request are made: no allocation once it has grown to its size.
class FilterMemory {
 public:
  template <typename Object, typename... Arguments>
  Object* make(Arguments&&... arguments) {
    constexpr size_t kAlign = alignof(Object);
    char* at = arena_.allocate(sizeof(Object) + kAlign - 1);
    at += (kAlign - reinterpret_cast<uintptr_t>(at) % kAlign) % kAlign;
    return new (at) Object(std::forward<Arguments>(arguments)...);
  }
  // Plain ones, with nothing in them so far.
  template <typename Object>
  Object* makeMany(size_t count) {
    static_assert(std::is_trivially_destructible_v<Object>);
    constexpr size_t kAlign = alignof(Object);
    char* at = arena_.allocate(sizeof(Object) * count + kAlign - 1);
    at += (kAlign - reinterpret_cast<uintptr_t>(at) % kAlign) % kAlign;
    return reinterpret_cast<Object*>(at);
  }
  // A copy that lives as long as the filters do.
  std::string_view keep(std::string_view text) { return arena_.copy(text); }
  // Room that lives as long.
  char* allocate(size_t bytes) { return arena_.allocate(bytes); }
  Arena& arena() { return arena_; }
  // The filters have been destroyed.
  void reset() { arena_.reset(); }

 private:
  // As much as the filters of most chains need together.
  Arena arena_{2048};
};

class HttpFilterConfig {
 public:
  virtual ~HttpFilterConfig() = default;
  // Null: nothing is to be done for this request.
  virtual HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                           FilterPlace& place) const = 0;
};

using BuiltFilter = Result<std::shared_ptr<const HttpFilterConfig>>;

class Demands;
class DiscoveredFilters;
class Faults;
class JwtKeyStores;
class LateCountsOfAll;
struct LiveValues;
class Publishers;
class Taps;

// What a config may be built with, beside its plan. The control thread's.
struct ConfigScope {
  stats::Registry& registry;
  // The connection manager's, "http.<prefix>.", or the cluster's.
  stats::Scope stats;
  unsigned workers;
  RuntimeSlots& slots;
  // The numbers by which workers know clusters.
  NameIds& clusters;
  // POST /healthcheck/fail has been asked for.
  std::shared_ptr<const std::atomic<bool>> health_check_failed;
  Taps& taps;
  Faults& faults;
  LateCountsOfAll& late_counts;
  Publishers& publishers;
  // Null: there are none.
  const upstream::NameCaches* names = nullptr;
  DiscoveredFilters& discovered;
  Demands& demands;
  JwtKeyStores& jwt_keys;
  // Null: there are none.
  caches::CacheStores* caches = nullptr;
  LiveValues& live;
};

// The same of what routes say of filters.
struct RouteScope {
  stats::Registry& registry;
  RuntimeSlots& slots;
  NameIds& clusters;
  unsigned workers;
  Publishers& publishers;
  LiveValues& live;
  // Of the connection manager with that prefix; null: there is none.
  const std::function<ConfigScope(const std::string& stat_prefix)>* chain_scope = nullptr;

  static RouteScope of(const ConfigScope& scope) {
    return {scope.registry, scope.slots,      scope.clusters,
            scope.workers,  scope.publishers, scope.live};
  }
};

}  // namespace fairlead::filters
