// The clusters of the data plane: made of plans, given hosts, removed. What changes for workers
// goes into a Delta, one change for a cluster with its hosts. The control thread's.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/name_ids.h"
#include "base/result.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"
#include "upstream/cluster.h"
#include "worker/delta.h"
#include "worker/retired.h"
#include "worker/tls_sockets.h"

namespace fairlead::worker {

class Clusters {
 public:
  // `ids`: what numbers their names have. `transport`: beneath connections to their hosts.
  Clusters(stats::Registry& registry, unsigned workers, NameIds& ids, Retired& retired,
           TlsSockets& tls_sockets, net::SharedTransport transport);

  // In the place of the cluster of that name, if there is one. It has no hosts yet. The error names
  // what is wrong with its TLS; nothing has changed then.
  Result<void> apply(const plan::Cluster& plan, Delta* delta);
  // Hosts of an address that the cluster has already go on as they are. The error names what is
  // wrong; nothing has changed then.
  Result<void> assign(plan::Assignment plan, Delta* delta);
  // False: there is none of that name.
  bool remove(const std::string& name, Delta* delta);
  // Kept for a cluster of that name that comes later, or takes its place.
  void applyRuntime(const plan::ClusterRuntime& runtime);
  // What comes later goes into another delta.
  void endDelta() { in_delta_.clear(); }

  // Gauges that are made only when someone reads or they are sent: circuit breakers.
  void refreshGauges();
  void showStarted();
  const std::map<std::string, std::shared_ptr<upstream::Cluster>>& all() const { return clusters_; }

 private:
  using Hosts = std::vector<std::shared_ptr<upstream::Host>>;

  ClusterChange& changeOf(const upstream::Cluster& cluster, Delta* delta);
  void put(const std::shared_ptr<upstream::Cluster>& cluster,
           std::shared_ptr<const upstream::HostSet> hosts, Delta* delta);
  void retire(const upstream::Cluster& cluster);
  void addStats(upstream::Cluster& cluster);
  // Null: bytes in the clear.
  Result<net::SharedTransport> makeTransport(
      const std::optional<plan::TlsContext>& tls,
      const std::optional<plan::ProxyProtocolSocket>& proxy_protocol, const stats::Scope& scope);
  Result<std::vector<upstream::TransportMatch>> makeTransportMatches(const plan::Cluster& plan,
                                                                     const stats::Scope& scope);
  void countTransport(upstream::Cluster& cluster, const plan::Host& host);
  void countMembers(upstream::Cluster& cluster, const upstream::HostSet& hosts);
  void showCount();
  std::shared_ptr<const upstream::HostSet> hostsAtFirst(const plan::Cluster& plan,
                                                        const upstream::Cluster* before);
  std::shared_ptr<const upstream::HostSet> noHosts(uint32_t panic_threshold_pct);

  stats::Registry& registry_;
  const unsigned workers_;
  NameIds& ids_;
  Retired& retired_;
  TlsSockets& tls_sockets_;
  const net::SharedTransport transport_;
  const std::shared_ptr<stats::Block<stats::ClusterManager>> stats_;
  // Of the control thread, then of the workers.
  std::vector<std::shared_ptr<stats::Block<stats::ClusterManagerThread>>> inflated_stats_;
  // Null until a cluster's hosts come from DNS.
  std::shared_ptr<stats::BlockBase> resolver_stats_;
  std::map<std::string, std::shared_ptr<upstream::Cluster>> clusters_;
  // By name: those that say something.
  std::map<std::string, plan::ClusterRuntime> runtimes_;
  // By panic threshold.
  std::map<uint32_t, std::shared_ptr<const upstream::HostSet>> no_hosts_;
  // Where the delta has the change of a cluster, by its number.
  std::unordered_map<uint32_t, size_t> in_delta_;
};

}  // namespace fairlead::worker
