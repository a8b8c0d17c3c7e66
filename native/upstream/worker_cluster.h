// One worker's view of a cluster: its hosts, its balancer, its pools. Owned by the worker's
// WorkerClusters, and made when a request first asks for it.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "http/codecs.h"
#include "net/internal_listeners.h"
#include "net/loop.h"
#include "net/splice.h"
#include "stats/registry.h"
#include "upstream/cluster.h"
#include "upstream/destination_hosts.h"
#include "upstream/pool.h"
#include "upstream/subset_balancer.h"

namespace fairlead::upstream {

// What a worker lends to everything upstream.
struct UpstreamContext {
  net::Loop& loop;
  // Its batch is for whoever writes to a connection.
  const http::CodecScratch& scratch;
  net::SplicePipes& pipes;
  Random& random;
  unsigned worker;
  // What the worker sheds.
  const net::Overload& overload = net::Overload::none();
  // Null: there are none.
  net::InternalListeners* internal_listeners = nullptr;
};

// What a request says of the host that it wants.
struct HostWish {
  // Absent: it has none.
  std::optional<uint64_t> hash = {};
  // Null: any will do.
  const plan::SubsetCriteria* criteria = nullptr;
  // Of clusters that make their hosts as they are asked for; null: it does not say.
  const net::Address* destination = nullptr;
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
  // `local`: this proxy and its like; null: nobody knows them.
  void setHosts(std::shared_ptr<const HostSet> hosts,
                std::shared_ptr<const HostSet> local = nullptr);
  void setLocalHosts(std::shared_ptr<const HostSet> local);
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
  // Which host a request gets depends on more than whose turn it is.
  bool asksRequests() const { return asks_requests_; }
  // Null: its hosts are those that it is assigned.
  const plan::DestinationHosts* destinationRules() const {
    const auto& rules = settings().destination_hosts;
    return rules ? &*rules : nullptr;
  }
  bool goesByHash() const { return cluster_->balancerSettings().goesByHash(); }
  // The pool of the host whose turn it is; null when no host may be used. `client`: what the
  // request came by.
  HttpPool* chooseHttpPool(http::Version client);
  // The same for a request that says more of the host it wants.
  HttpPool* chooseHttpPool(http::Version client, const HostWish& wish);
  // The same for a request that is tried again.
  HttpPool* chooseHttpPool(http::Version client, const HostWish& wish, RetryHosts& retry);
  // The pool of the same host for requests of such a use.
  HttpPool& poolOf(HttpPool& chosen, const PoolUse& use);
  // Connections are made for requests that are to be expected.
  bool predicts() const { return settings().predictive_preconnect_millionths != 0; }
  // Or for those that are there, more than they need.
  bool preconnects() const { return predicts() || settings().preconnect_millionths != 0; }
  // A request of that protocol is about to ask for a stream: hosts whose turn is next get
  // connections, as far as its configuration wants it.
  void preconnect(http::ClientProtocol protocol, const PoolUse& use);
  // For the TCP relay: null when no host may be used.
  std::shared_ptr<Host> chooseHost(const HostWish& wish = {});

 private:
  bool hasOtherHosts(const std::unordered_set<const Host*>& than) const;
  Choice choose(const HostWish& wish, PickContext context);
  // Whose turn comes after those that are known already; null: that depends on the request, or
  // enough are known.
  Host* chooseAhead();
  void count(const Choice& choice);
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
  // Null: it has none.
  std::unique_ptr<SubsetBalancer> subsets_;
  // Null: it makes none.
  std::unique_ptr<DestinationHosts> destinations_;
  bool asks_requests_ = false;
  // Chosen before anybody asked: the next requests get them.
  std::deque<Choice> ahead_;
  std::shared_ptr<const HostSet> hosts_;
  std::shared_ptr<const HostSet> local_hosts_;
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
