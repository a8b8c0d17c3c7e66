// One worker's calls of services: those under way, and the memory of those that are over. Owned by
// the worker's proxy::Context; its thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/arena.h"
#include "base/list.h"
#include "calls/service.h"
#include "format/context.h"
#include "http/message.h"
#include "net/resting_pool.h"
#include "stats/registry.h"
#include "upstream/worker_clusters.h"

namespace fairlead::calls {

class Exchange;

class Calls {
 public:
  explicit Calls(upstream::WorkerClusters& clusters);
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;
  ~Calls();

  upstream::WorkerClusters& clusters() { return clusters_; }
  upstream::UpstreamContext& context() { return clusters_.context(); }
  net::Loop& loop() { return clusters_.context().loop; }

  // For the head of a call that is about to begin, and for one that is told of. Made for the first.
  http::HeaderMap& headers() {
    if (!headers_) headers_ = std::make_unique<http::HeaderMap>();
    return *headers_;
  }
  // Of what such a head points to; reset by whoever begins a call.
  Arena& arena() { return arena_; }
  // What is written before its length is known; keeps its memory.
  std::string& text() { return text_; }

  // A call of gRPC that nobody waits for: whatever becomes of it. As Call::askGrpc().
  void tellGrpc(std::shared_ptr<const Service> service, std::string_view path,
                std::string_view message, const format::FormatContext* about);

  // Of who may ask that service: its client is there from here on, as far as statistics go.
  void prepare(const Service& service);

  // Where requests that are this proxy's own are counted; null: nowhere.
  void countIn(stats::Shard<stats::AsyncClient>* stats) { stats_ = stats; }
  void countRequest() {
    if (stats_) stats_->add(stats::AsyncClient::Counter::RqTotal);
  }

  // Those under way end here, and their owners hear nothing more: what they use goes.
  void endActive();
  // Ends memory that nobody needed since the previous call.
  void trim();

 private:
  friend class Call;
  friend class Exchange;
  static constexpr size_t kMostResting = 64;

  Exchange& take();
  // `exchange` may still be used by its callers until the turn ends.
  void give(Exchange& exchange);

  upstream::WorkerClusters& clusters_;
  stats::Shard<stats::AsyncClient>* stats_ = nullptr;
  std::unique_ptr<http::HeaderMap> headers_;
  Arena arena_{1024};
  std::string text_;
  List<Exchange> active_;
  net::RestingPool<Exchange> resting_;
};

}  // namespace fairlead::calls
