// One worker's view of a cluster: its hosts, its balancer, its pools. Owned by the worker's
// WorkerClusters, and made when a request first asks for it.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "http/codecs.h"
#include "net/internal_listeners.h"
#include "net/loop.h"
#include "net/splice.h"
#include "stats/registry.h"
#include "upstream/aggregate.h"
#include "upstream/cluster.h"
#include "upstream/destination_hosts.h"
#include "upstream/pool.h"
#include "upstream/subset_balancer.h"

namespace fairlead::upstream {

class WorkerClusters;

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
  // Tells the control thread that something of clusters that were replaced or removed is not held
  // here any more; may be null.
  std::function<void()> on_left = nullptr;
  // All of the worker's; null: there are no others.
  WorkerClusters* clusters = nullptr;
};

// What a request says of the host that it wants.
// Hosts by their addresses, of which each is asked for once.
struct HostOverrides {
  std::vector<std::string> hosts;
  size_t next = 0;

  void clear() {
    hosts.clear();
    next = 0;
  }
};

struct HostWish {
  // Absent: it has none.
  std::optional<uint64_t> hash = {};
  // Null: any will do.
  const plan::SubsetCriteria* criteria = nullptr;
  // Of clusters that make their hosts as they are asked for; null: it does not say.
  const net::Address* destination = nullptr;
  // The host that it is to have, if its health allows; empty: whoever's turn it is.
  std::string_view named_host = {};
  // No other one will do.
  bool is_strict = false;
  // Of clusters whose hosts have names: with its port.
  std::string_view name = {};
  // Those that are there go before whoever's turn it is, healthy or not; null: it names none.
  HostOverrides* overrides = nullptr;
};

// A connection that ends with its host's health, where its cluster wants it.
class HealthFollower : public ListNode<HealthFollower> {
 public:
  virtual Host* followedHost() = 0;
  // It is not well any more; the follower is not on the list by then.
  virtual void onHostUnwell() = 0;

 protected:
  ~HealthFollower() = default;
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
  // Ends connections to hosts that are not well any more, at once or behind their requests.
  void dropUnwell();
  void setLocalHosts(std::shared_ptr<const HostSet> local);
  const HostSet* hosts() const { return hosts_.get(); }

  // Until it is unlinked.
  void follow(HealthFollower& follower) { followers_.pushBack(&follower); }

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
  // Null: nothing of requests is recorded beside what always is.
  const RequestMeasures* measures() const { return measures_; }
  // Null: its hosts go by no names.
  const plan::NamedHosts* namedHosts() const {
    const auto& rules = settings().named_hosts;
    return rules ? &*rules : nullptr;
  }
  // Null: requests do not name their hosts.
  const plan::HostOverrides* overrideRules() const {
    const auto& rules = settings().host_overrides;
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
  // Whether there may be the pool, by the cluster's limit of them: it counts already, there is
  // room, or another one of its host has nothing to do and goes. False: it is counted as refused.
  bool admits(HttpPool& pool) { return pool.isCounted() || admitsOther(pool); }
  // Connections are made for requests that are to be expected.
  bool predicts() const { return settings().predictive_preconnect_millionths != 0; }
  // Or for those that are there, more than they need.
  bool preconnects() const { return predicts() || settings().preconnect_millionths != 0; }
  // Each host has so many connections at most.
  bool limitsHosts() const {
    return !settings().limits.empty() && settings().limits[0].max_connections_per_host;
  }
  // A request of that protocol is about to ask for a stream: hosts whose turn is next get
  // connections, as far as its configuration wants it.
  void preconnect(http::ClientProtocol protocol, const PoolUse& use);
  // For the TCP relay: the cluster whose host a connection goes to, this one but for those that
  // have no hosts of their own; null: there is none, which is counted.
  Aggregate::Place placeFor(const HostWish& wish);
  // Null when no host may be used. `loads`: of the place.
  std::shared_ptr<Host> chooseHost(const HostWish& wish = {}, const PriorityLoads* loads = nullptr);

 private:
  // Its requests go to hosts of other clusters.
  bool goesElsewhere() const {
    return aggregate_ || (namedHosts() && !namedHosts()->cluster_prefix.empty());
  }
  Aggregate::Place elsewhere(const HostWish& wish, RetryHosts* retry = nullptr);
  HttpPool* chooseElsewhere(http::Version client, const HostWish& wish, RetryHosts* retry);
  Host* named(std::string_view name);
  bool hasOtherHosts(const std::unordered_set<const Host*>& than) const;
  Choice choose(const HostWish& wish, PickContext context);
  // Null: there is none of that address, or, of the first, its health forbids it.
  Host* findNamed(std::string_view address);
  Host* findByAddress(std::string_view address);
  Host* nextOverride(HostOverrides& overrides);
  // Whose turn comes after those that are known already; null: that depends on the request, or
  // enough are known.
  Host* chooseAhead();
  void count(const Choice& choice);
  // But for that there is no host.
  // One that the request would not have: another is chosen in its place.
  void countRefused(Choice choice);
  HttpPool* poolOf(const Choice& choice, http::Version client);
  HttpPool& poolOf(Host& host, http::ClientProtocol protocol);
  http::ClientProtocol protocolFor(http::Version client) const;
  bool admitsOther(HttpPool& pool);
  bool freePoolBeside(HttpPool& pool);
  void tellIfEmpty() {
    if (owner_ && isEmpty()) context_.loop.defer(owner_);
  }
  void onDeferred() override;

  std::shared_ptr<Cluster> cluster_;
  UpstreamContext& context_;
  stats::Shard<stats::Cluster>* stats_ = nullptr;
  stats::Shard<stats::Http2Codec>* http2_stats_ = nullptr;
  const RequestMeasures* const measures_;
  Balancer balancer_;
  // Null: it has none.
  std::unique_ptr<SubsetBalancer> subsets_;
  // Null: it makes none.
  std::unique_ptr<DestinationHosts> destinations_;
  List<HealthFollower> followers_;
  // Null: it has hosts of its own.
  std::unique_ptr<Aggregate> aggregate_;
  bool asks_requests_ = false;
  // Of clusters whose hosts have names; made when one is asked for.
  std::unordered_map<std::string_view, Host*> by_name_;
  bool has_names_ = false;
  // Chosen before anybody asked: the next requests get them.
  std::deque<Choice> ahead_;
  std::shared_ptr<const HostSet> hosts_;
  std::shared_ptr<const HostSet> local_hosts_;
  // By their addresses; empty until a request names one.
  std::unordered_map<std::string_view, Host*> named_hosts_;
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
