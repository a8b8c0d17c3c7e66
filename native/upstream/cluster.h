// A cluster as all threads share it: settings, budgets, statistics, and the latest hosts. Made by
// the control thread; immutable but for the budgets (atomic) and the host set (swapped on workers
// by a message of its own).
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "base/name_ids.h"
#include "http/codec_settings.h"
#include "net/transport.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"
#include "upstream/balancer.h"
#include "upstream/host_set.h"
#include "upstream/limits.h"

namespace fairlead::upstream {

// How hosts of some metadata are reached.
struct TransportMatch {
  std::vector<std::string> labels;
  // Null: in the clear.
  net::SharedTransport transport;
  std::shared_ptr<stats::Block<stats::TransportMatch>> stats;

  bool takes(const plan::Host& host) const;
};

class Cluster {
 public:
  // `transport`: beneath its connections. `id`: the number of its name.
  Cluster(const plan::Cluster& settings, std::shared_ptr<stats::Block<stats::Cluster>> stats,
          net::SharedTransport transport = nullptr, NameIds::Ref id = {})
      : settings_(settings),
        id_(std::move(id)),
        stats_(std::move(stats)),
        transport_(std::move(transport)),
        tells_clients_(tellsClients(settings_)) {
    for (size_t i = 0; i < 2 && i < settings_.limits.size(); ++i) {
      limits_[i].configure(settings_.limits[i]);
    }
    client_.limits.max_head_bytes = settings_.max_response_headers_kb * 1024;
    client_.limits.max_headers = settings_.max_headers_count;
    client_.enable_trailers = settings_.enable_trailers;
    client_.connect_timeout_ms = settings_.connect_timeout_ms;
    client_.idle_timeout_ms = settings_.idle_timeout_ms;
    client_.max_duration_ms = settings_.max_connection_duration_ms;
    client_.max_requests = settings_.max_requests_per_connection;
    if (settings_.http2) client_.http2 = &*settings_.http2;
  }

  const plan::Cluster& settings() const { return settings_; }
  const std::string& name() const { return settings_.name; }
  uint32_t id() const { return id_.id(); }
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
  // Control thread: writes what the budgets say now to the gauges that show it.
  void publishLimits(uint32_t priority, stats::Shard<stats::Cluster>& stats) const;
  const http::ClientSettings& clientSettings() const { return client_; }
  BalancerSettings balancerSettings() const {
    return {settings_.balancer, settings_.least_request_choices, settings_.least_request_full_scan};
  }
  // How a host is reached. Null: in the clear.
  const net::SharedTransport& transport(const plan::Host& host) const {
    const TransportMatch* match = transportMatch(host);
    return match ? match->transport : transport_;
  }
  // Null: none takes it.
  const TransportMatch* transportMatch(const plan::Host& host) const {
    for (const TransportMatch& match : transport_matches_) {
      if (match.takes(host)) return &match;
    }
    return nullptr;
  }
  // Hosts are told whom connections are for, which then serve nobody else.
  bool tellsClients() const { return tells_clients_; }
  // Control thread: before any worker knows the cluster.
  void setTransportMatches(std::vector<TransportMatch> matches) {
    transport_matches_ = std::move(matches);
  }
  stats::Block<stats::Cluster>& stats() { return *stats_; }
  // Null: its hosts are not spoken to in HTTP/2.
  stats::Block<stats::Http2Codec>* http2Stats() { return http2_stats_.get(); }
  // Control thread: before any worker knows the cluster.
  void setHttp2Stats(std::shared_ptr<stats::Block<stats::Http2Codec>> stats) {
    http2_stats_ = std::move(stats);
  }
  // Control thread: statistics that there are as long as the cluster.
  void keepStats(std::shared_ptr<stats::BlockBase> block) {
    more_stats_.push_back(std::move(block));
  }

  // Control thread only: what /clusters shows. Set as soon as the cluster is applied.
  const std::shared_ptr<const HostSet>& hosts() const { return hosts_; }
  void setHosts(std::shared_ptr<const HostSet> hosts) { hosts_ = std::move(hosts); }

 private:
  static bool tellsClients(const plan::Cluster& settings);

  const plan::Cluster settings_;
  const NameIds::Ref id_;
  std::shared_ptr<stats::Block<stats::Cluster>> stats_;
  std::shared_ptr<stats::Block<stats::Http2Codec>> http2_stats_;
  std::vector<std::shared_ptr<stats::BlockBase>> more_stats_;
  const net::SharedTransport transport_;
  const bool tells_clients_;
  std::vector<TransportMatch> transport_matches_;
  Limits limits_[2];
  std::atomic<uint32_t> maintenance_{0};
  http::ClientSettings client_;
  std::shared_ptr<const HostSet> hosts_;
};

}  // namespace fairlead::upstream
