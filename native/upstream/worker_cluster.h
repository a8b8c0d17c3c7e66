// One worker's view of a cluster: its hosts, its balancer, its pools. Owned by the worker's
// WorkerClusters, and made when a request first asks for it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "http/codecs.h"
#include "net/loop.h"
#include "net/splice.h"
#include "stats/registry.h"
#include "upstream/cluster.h"
#include "upstream/pool.h"

namespace fairlead::upstream {

// What a worker lends to everything upstream.
struct UpstreamContext {
  net::Loop& loop;
  // Its batch is for whoever writes to a connection.
  const http::CodecScratch& scratch;
  net::SplicePipes& pipes;
  Random& random;
  unsigned worker;
};

class WorkerCluster : private net::Deferred {
 public:
  WorkerCluster(std::shared_ptr<Cluster> cluster, UpstreamContext& context);
  ~WorkerCluster();

  Cluster& cluster() { return *cluster_; }
  const plan::Cluster& settings() const { return cluster_->settings(); }
  UpstreamContext& context() { return context_; }
  // Made when first written to: most of ten thousand clusters never are.
  stats::Shard<stats::Cluster>& stats() {
    if (!stats_) stats_ = cluster_->stats().shard(context_.worker + 1);
    return *stats_;
  }
  // Null: its hosts are not spoken to in HTTP/2.
  stats::Shard<stats::Http2Codec>* http2Stats() {
    if (!http2_stats_ && cluster_->http2Stats()) {
      http2_stats_ = cluster_->http2Stats()->shard(context_.worker + 1);
    }
    return http2_stats_;
  }
  void setHosts(std::shared_ptr<const HostSet> hosts);
  const HostSet* hosts() const { return hosts_.get(); }

  // Its connections end with the requests that they carry; no new ones are asked for.
  void drain();
  // Whoever keeps a pointer beyond its handler.
  void hold() { ++holders_; }
  void letGo() {
    if (--holders_ == 0) tellIfEmpty();
  }
  bool isEmpty() const { return pools_.empty() && special_pools_.empty() && holders_ == 0; }
  // It drains: `owner` is called at the end of the turn in which nothing is left of it.
  void tellWhenEmpty(net::Deferred* owner) { owner_ = owner; }
  // A pool that drains has become empty: it goes in the next turn, when nobody is inside it.
  void dropEmptyPoolsSoon() { context_.loop.defer(this); }

  // Asked once for each request: whether the runtime wants it refused. Counts it then.
  bool isRefusingForMaintenance();
  // The pool of the host whose turn it is; null when no host may be used. `client`: what the
  // request came by.
  HttpPool* chooseHttpPool(http::Version client);
  // The same for a request that is tried again.
  HttpPool* chooseHttpPool(http::Version client, RetryHosts& retry);
  // The pool of the same host for requests of such a use.
  HttpPool& poolOf(HttpPool& chosen, const PoolUse& use);
  // For the TCP relay: null when no host may be used.
  std::shared_ptr<Host> chooseHost();

 private:
  HttpPool* poolOf(const Choice& choice, http::Version client);
  HttpPool& poolOf(Host& host, http::ClientProtocol protocol);
  http::ClientProtocol protocolFor(http::Version client) const;
  void tellIfEmpty() {
    if (owner_ && isEmpty()) context_.loop.defer(owner_);
  }
  void onDeferred() override;

  std::shared_ptr<Cluster> cluster_;
  UpstreamContext& context_;
  stats::Shard<stats::Cluster>* stats_ = nullptr;
  stats::Shard<stats::Http2Codec>* http2_stats_ = nullptr;
  Balancer balancer_;
  std::shared_ptr<const HostSet> hosts_;
  std::unordered_map<const Host*, std::unique_ptr<HttpPool>> pools_;
  // Of requests that do not share connections with all others: by host, PoolUse::key(), and what is
  // spoken.
  using PoolKey = std::tuple<const Host*, std::string, http::ClientProtocol>;
  std::map<PoolKey, std::unique_ptr<HttpPool>> special_pools_;
  // The latest answer of poolOf: with one host no lookup is needed.
  HttpPool* latest_pool_ = nullptr;
  uint32_t holders_ = 0;
  // Null: it stays, empty or not.
  net::Deferred* owner_ = nullptr;
};

}  // namespace fairlead::upstream
