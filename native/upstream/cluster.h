// A cluster as all threads share it: settings, budgets, statistics, and the latest hosts. Made by
// the control thread; immutable but for the budgets (atomic) and the host set (swapped on workers
// by a message of its own).
#pragma once

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/name_ids.h"
#include "base/random.h"
#include "http/codec_settings.h"
#include "match/metadata_condition.h"
#include "net/transport.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"
#include "upstream/balancer.h"
#include "upstream/cluster_life.h"
#include "upstream/host_set.h"
#include "upstream/limits.h"
#include "upstream/made_hosts.h"
#include "upstream/name_cache.h"
#include "upstream/outlier/detector.h"
#include "upstream/transport_choice.h"

namespace fairlead::upstream {

// What is recorded of requests beside all else, where a cluster's configuration wants it.
struct RequestMeasures {
  // Null: not that.
  std::shared_ptr<stats::Block<stats::ClusterTimeoutBudgets>> budgets;
  std::shared_ptr<stats::Block<stats::ClusterSizes>> sizes;
};

// What a layer above keeps with a cluster. Immutable.
class ClusterPart {
 public:
  virtual ~ClusterPart() = default;
};

class Cluster {
 public:
  // `transport`: beneath its connections. `id`: the number of its name. `slots`: what follows
  // runtime values.
  Cluster(const plan::Cluster& settings, std::shared_ptr<stats::Block<stats::Cluster>> stats,
          net::SharedTransport transport = nullptr, NameIds::Ref id = {},
          RuntimeSlots* slots = nullptr)
      : settings_(settings),
        id_(std::move(id)),
        stats_(std::move(stats)),
        transport_(std::move(transport)),
        tells_clients_(tellsClients(settings_)),
        balancer_(BalancerSettings::of(settings_, slots)),
        panic_threshold_pct_(settings_.panic_threshold_pct, settings_.panic_threshold_slot, slots) {
    for (size_t i = 0; i < 2 && i < settings_.limits.size(); ++i) {
      limits_[i].configure(settings_.limits[i]);
    }
    client_.limits.max_head_bytes = settings_.max_response_headers_kb * 1024;
    client_.limits.max_headers = settings_.max_headers_count;
    client_.enable_trailers = settings_.enable_trailers;
    client_.proper_case_words = settings_.proper_case_words;
    client_.preserve_case = settings_.preserve_case.get();
    client_.connect_timeout_ms = settings_.connect_timeout_ms;
    client_.idle_timeout_ms = settings_.idle_timeout_ms;
    client_.max_duration_ms = settings_.max_connection_duration_ms;
    client_.max_duration_jitter = settings_.max_connection_duration_jitter;
    client_.max_requests = settings_.max_requests_per_connection;
    client_.sends_whole_url = settings_.sends_whole_url;
    client_.allow_chunked_length = settings_.allow_chunked_length;
    if (settings_.http2) client_.http2 = &*settings_.http2;
  }

  const plan::Cluster& settings() const { return settings_; }
  const std::string& name() const { return settings_.name; }
  uint32_t id() const { return id_.id(); }
  // Unlike its number, which another of its name has as well.
  ClusterLife life() const { return life_; }
  const std::string& observabilityName() const {
    return settings_.observability_name.empty() ? settings_.name : settings_.observability_name;
  }
  // `priority`: 0 default, 1 high.
  Limits& limits(uint32_t priority) { return limits_[priority & 1]; }
  const Limits& limits(uint32_t priority) const { return limits_[priority & 1]; }
  // Control thread: the runtime's word on limits and maintenance from here on.
  void applyRuntime(const plan::ClusterRuntime& runtime);
  // In millionths of all requests. Any thread.
  uint32_t maintenanceShare() const { return maintenance_.load(std::memory_order_relaxed); }
  // The same of those that whoever assigns its hosts wants dropped, whatever else there is.
  uint32_t dropShare() const { return drop_.load(std::memory_order_relaxed); }
  // Control thread.
  void setDrops(uint32_t millionths, std::string category) {
    drop_.store(millionths, std::memory_order_relaxed);
    drop_category_ = std::move(category);
  }
  // Control thread: what it calls the requests that it wants dropped.
  const std::string& dropCategory() const { return drop_category_; }
  // Whether the next one is, which is counted. Any thread.
  bool drops(Random& random) {
    const uint32_t share = dropShare();
    if (share == 0 || !random.draws(share)) return false;
    dropped_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  // How many were. Any thread.
  uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }
  // How many others no host was asked for, as limits and maintenance want it. Any thread.
  void countShed() { shed_.fetch_add(1, std::memory_order_relaxed); }
  uint64_t shed() const { return shed_.load(std::memory_order_relaxed); }
  // Control thread: writes what the budgets say now to the gauges that show it.
  void publishLimits(uint32_t priority, stats::Shard<stats::Cluster>& stats) const;
  // The same of one in whose place another has come: nothing is used up any more.
  void clearLimits(stats::Shard<stats::Cluster>& stats) const;
  // Nobody has said yet which hosts its name stands for. Any thread.
  bool awaitsName() const { return awaits_name_.load(std::memory_order_relaxed); }
  void setAwaitsName(bool awaits) { awaits_name_.store(awaits, std::memory_order_relaxed); }
  const http::ClientSettings& clientSettings() const { return client_; }
  const BalancerSettings& balancerSettings() const { return balancer_; }
  // Of its host sets that are made now.
  HostSetRules hostSetRules() const;
  // Of both priorities, on all workers.
  uint64_t activeRequests() const {
    return limits_[0].requests.used() + limits_[1].requests.used();
  }
  // How a host is reached. Null: in the clear.
  const net::SharedTransport& transport(const plan::Host& host) const {
    return transportOf(transportMatch(host));
  }
  // Where connections to a host go: to it, or to a proxy. As long as both are there.
  const net::Address& connectsTo(const Host& host) const {
    const net::SharedTransport& way = transport(host.settings());
    const net::Address* const proxy = way ? way->proxyFor(host.proxy()) : nullptr;
    return proxy ? *proxy : host.address();
  }
  // Null: none takes it.
  const TransportMatch* transportMatch(const plan::Host& host) const {
    return transport_choice_.find(host);
  }
  // By labels, in place of a host's own.
  const TransportMatch* transportMatchFor(const std::vector<std::string>& labels) const {
    plan::Host host;
    host.socket_labels = labels;
    return transportMatch(host);
  }
  // How hosts are reached that `match` takes; null: that none takes.
  const net::SharedTransport& transportOf(const TransportMatch* match) const {
    return match ? match->transport : transport_;
  }
  // The thread of `shard`: something is about to be reached so.
  void countTransport(const TransportMatch* match, unsigned shard);
  // Whether connections to the host may be made ahead.
  bool connectsAhead(const plan::Host& host) const {
    return !preconnect_condition_ || fitsPreconnect(host);
  }
  // Control thread: before any worker knows the cluster.
  void setPreconnectCondition(match::MetadataCondition condition) {
    preconnect_condition_ = std::move(condition);
  }
  // Hosts are told whom connections are for, which then serve nobody else.
  bool tellsClients() const { return tells_clients_; }
  // Control thread: before any worker knows the cluster.
  void setTransportChoice(TransportChoice choice) { transport_choice_ = std::move(choice); }
  stats::Block<stats::Cluster>& stats() { return *stats_; }
  const std::shared_ptr<stats::Block<stats::Cluster>>& sharedStats() const { return stats_; }
  // Null: its hosts are not spoken to in HTTP/2.
  stats::Block<stats::Http2Codec>* http2Stats() { return http2_stats_.get(); }
  // Control thread: before any worker knows the cluster.
  void setHttp2Stats(std::shared_ptr<stats::Block<stats::Http2Codec>> stats) {
    http2_stats_ = std::move(stats);
  }
  // Control thread only. Null: it balances otherwise.
  const std::shared_ptr<stats::Block<stats::RingHashLb>>& ringStats() const { return ring_stats_; }
  void setRingStats(std::shared_ptr<stats::Block<stats::RingHashLb>> stats) {
    ring_stats_ = std::move(stats);
  }
  const std::shared_ptr<stats::Block<stats::MaglevLb>>& maglevStats() const {
    return maglev_stats_;
  }
  void setMaglevStats(std::shared_ptr<stats::Block<stats::MaglevLb>> stats) {
    maglev_stats_ = std::move(stats);
  }
  // Where requests say that a host is not well; null: nobody asks.
  HealthInbox* healthInbox() const { return health_inbox_.get(); }
  // Control thread: before any worker knows the cluster.
  void setHealthInbox(std::shared_ptr<HealthInbox> inbox) { health_inbox_ = std::move(inbox); }
  // Control thread only: what is counted of answers of hosts in that zone; null: nothing yet.
  std::shared_ptr<stats::Block<stats::ClusterZone>>& zoneStats(const std::string& zone) {
    return zone_stats_[zone];
  }
  // Control thread: statistics that there are as long as the cluster.
  void keepStats(std::shared_ptr<stats::BlockBase> block) {
    more_stats_.push_back(std::move(block));
  }

  // Of a cluster that has no hosts of its own: those that requests go to, in their order.
  const std::vector<NameIds::Ref>& members() const { return members_; }
  // Control thread: before any worker knows the cluster.
  void setMembers(std::vector<NameIds::Ref> members) { members_ = std::move(members); }

  // Control thread only: somebody has said which hosts it has.
  bool wasAssigned() const { return was_assigned_; }
  void setAssigned() { was_assigned_ = true; }
  // Control thread only: the last of the priorities that hosts have ever had.
  uint32_t lastPriority() const { return last_priority_; }
  void seePriority(uint32_t priority) { last_priority_ = std::max(last_priority_, priority); }

  // Null: there is none.
  const RequestMeasures* measures() const { return measures_.get(); }
  // Control thread: before any worker knows the cluster.
  void setMeasures(std::unique_ptr<const RequestMeasures> measures) {
    measures_ = std::move(measures);
  }

  // What becomes of its requests, whatever their routes say; null: that alone. The proxy's.
  const ClusterPart* requestRules() const { return request_rules_.get(); }
  // Control thread: before any worker knows the cluster.
  void setRequestRules(std::shared_ptr<const ClusterPart> rules) {
    request_rules_ = std::move(rules);
  }

  // Any thread: of the names that its requests ask for, each a host or a cluster of its own; null:
  // there is none.
  NameCache* names() const { return names_.get(); }
  // Control thread: before any worker knows the cluster.
  void setNames(std::shared_ptr<NameCache> names) { names_ = std::move(names); }

  // Any thread: what each of its hosts is made with. Null: nobody asks what becomes of requests.
  const std::shared_ptr<OutlierWatch>& outlierWatch() const { return outlier_watch_; }
  // Any thread: where workers put the hosts that they have made for it. Null: they make none.
  const std::shared_ptr<MadeHosts>& madeHosts() const { return made_hosts_; }
  // Control thread: before any worker knows the cluster.
  void setMadeHosts(std::shared_ptr<MadeHosts> hosts) { made_hosts_ = std::move(hosts); }
  // Control thread only. Null: it has none, or is not there any more.
  OutlierDetector* outlierDetector() const { return outlier_detector_.get(); }
  // First before any worker knows the cluster.
  void setOutlierDetector(std::unique_ptr<OutlierDetector> detector) {
    if (detector) outlier_watch_ = detector->watch();
    outlier_detector_ = std::move(detector);
  }

  // Control thread only: what /clusters shows. Set as soon as the cluster is applied.
  const std::shared_ptr<const HostSet>& hosts() const { return hosts_; }
  void setHosts(std::shared_ptr<const HostSet> hosts) { hosts_ = std::move(hosts); }

 private:
  static bool tellsClients(const plan::Cluster& settings);
  bool fitsPreconnect(const plan::Host& host) const;

  const plan::Cluster settings_;
  const NameIds::Ref id_;
  const ClusterLife life_ = nextClusterLife();
  std::shared_ptr<stats::Block<stats::Cluster>> stats_;
  std::shared_ptr<stats::Block<stats::Http2Codec>> http2_stats_;
  std::shared_ptr<stats::Block<stats::RingHashLb>> ring_stats_;
  std::shared_ptr<stats::Block<stats::MaglevLb>> maglev_stats_;
  std::vector<std::shared_ptr<stats::BlockBase>> more_stats_;
  std::map<std::string, std::shared_ptr<stats::Block<stats::ClusterZone>>> zone_stats_;
  const net::SharedTransport transport_;
  const bool tells_clients_;
  const BalancerSettings balancer_;
  std::vector<NameIds::Ref> members_;
  std::shared_ptr<NameCache> names_;
  std::unique_ptr<const RequestMeasures> measures_;
  std::shared_ptr<const ClusterPart> request_rules_;
  const RuntimeNumber panic_threshold_pct_;
  TransportChoice transport_choice_;
  // Absent: they may be made to all hosts.
  std::optional<match::MetadataCondition> preconnect_condition_;
  std::shared_ptr<HealthInbox> health_inbox_;
  Limits limits_[2];
  std::atomic<uint32_t> maintenance_{0};
  std::atomic<uint32_t> drop_{0};
  std::atomic<bool> awaits_name_{false};
  bool was_assigned_ = false;
  uint32_t last_priority_ = 0;
  std::atomic<uint64_t> dropped_{0};
  std::atomic<uint64_t> shed_{0};
  std::string drop_category_;
  http::ClientSettings client_;
  std::unique_ptr<OutlierDetector> outlier_detector_;
  std::shared_ptr<OutlierWatch> outlier_watch_;
  std::shared_ptr<MadeHosts> made_hosts_;
  std::shared_ptr<const HostSet> hosts_;
};

}  // namespace fairlead::upstream
