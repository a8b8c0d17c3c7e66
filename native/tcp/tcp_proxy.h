// The TCP relay of one filter chain: its settings for all threads, and what makes its sessions on
// one worker.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "access_log/access_log.h"
#include "base/name_ids.h"
#include "filters/http/demand_waiters.h"
#include "format/format.h"
#include "net/downstream_connection.h"
#include "net/drain_decision.h"
#include "net/transport.h"
#include "plan/plan.gen.h"
#include "plan/subset_criteria.h"
#include "stats/registry.h"
#include "tcp/tunneling.h"
#include "upstream/name_cache.h"
#include "upstream/worker_clusters.h"

namespace fairlead::tcp {

// Immutable; shared by all workers.
struct TcpProxyConfig {
  plan::TcpProxy plan;
  struct Target {
    NameIds::Ref cluster;
    // Which of its hosts will do; empty: all.
    plan::SubsetCriteria criteria;
  };
  // The plan's clusters, in their order.
  std::vector<Target> targets;
  // The cluster is the one that the client's server name names, where it has one.
  bool cluster_of_server_name = false;
  // Where the host that a client asks for by TLS is looked up first; null: nowhere.
  std::shared_ptr<upstream::NameCache> names;
  // Of names, which have none.
  uint32_t names_port = 0;
  std::string filter_chain_name;
  // What the configuration says of its listener and its filter chain, for formats.
  Boxed<plan::Metadata> listener_metadata;
  Boxed<plan::Metadata> chain_metadata;
  uint32_t buffer_limit_bytes;
  // How long more than that may wait for a client to read it; 0: for ever.
  uint64_t slow_timeout_ms = 0;
  bool bypasses_overload = false;
  // Beneath its clients' connections.
  net::SharedTransport transport;
  std::shared_ptr<stats::Block<stats::Tcp>> stats;
  std::vector<std::shared_ptr<access_log::AccessLog>> access_logs;
  // None: bytes go to hosts as they are.
  std::optional<Tunneling> tunneling;
  // Shown as the real server shows them; nothing of a tunnel is counted there. Null: no tunnels.
  std::shared_ptr<stats::Block<stats::AsyncClient>> tunneling_stats;
  // Of its filter chain.
  std::shared_ptr<const net::DrainDecision> drain;
  // Of `plan.proxy_tlvs`, those that have one.
  std::vector<format::Format> tlv_formats;
  // Who waits for a cluster that is asked for, and where that is counted; null: none is asked for.
  std::unique_ptr<const filters::DemandWaiters> waiters;
  std::shared_ptr<stats::Block<stats::TcpOnDemand>> demand_stats;

  // What hosts that speak the PROXY protocol are told of the client.
  net::SharedProxiedClient proxied(const net::DownstreamConnection& client,
                                   const format::FormatContext& context) const;
};

// One worker's. The worker's thread.
class TcpProxy final : public net::ConnectionFactory {
 public:
  TcpProxy(std::shared_ptr<const TcpProxyConfig> config, upstream::WorkerClusters& clusters)
      : config_(std::move(config)),
        clusters_(clusters),
        stats_(*config_->stats->shard(clusters.context().worker + 1)) {}

  net::DownstreamConnection* accept(net::AcceptedSocket socket,
                                    net::ConnectionAccounts& accounts) override;

  void onRefused() override { stats_.add(stats::Tcp::Counter::DownstreamCxTotal); }
  void onRefusedEnded(const net::DownstreamConnection& connection) override;
  void describeRefused(format::FormatContext* context) const override;

  const TcpProxyConfig& config() const { return *config_; }
  stats::Shard<stats::Tcp>& stats() { return stats_; }
  upstream::UpstreamContext& context() { return clusters_.context(); }
  // Whose turn it is, by weight.
  const TcpProxyConfig::Target& chooseTarget();
  // Null: there is no such cluster.
  upstream::WorkerCluster* findCluster(const NameIds::Ref& cluster) {
    return clusters_.find(cluster.id());
  }
  upstream::WorkerCluster* findCluster(std::string_view name) { return clusters_.find(name); }

 private:
  const std::shared_ptr<const TcpProxyConfig> config_;
  upstream::WorkerClusters& clusters_;
  stats::Shard<stats::Tcp>& stats_;
};

}  // namespace fairlead::tcp
