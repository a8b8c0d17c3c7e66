// The clusters of the data plane: made of plans, given hosts, removed. What changes for workers
// goes into a Delta, one change for a cluster with its hosts. The control thread's.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "base/name_ids.h"
#include "base/result.h"
#include "health/checker.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"
#include "upstream/cluster.h"
#include "worker/delta.h"
#include "worker/destinations.h"
#include "worker/endpoint_stats.h"
#include "worker/load_weights.h"
#include "worker/locality_loads.h"
#include "worker/outliers.h"
#include "worker/retired.h"
#include "worker/tls_sockets.h"
#include "worker/update_windows.h"

namespace fairlead::worker {

class Clusters {
 public:
  // `ids`: what numbers their names have. `transport`: beneath connections to their hosts. `slots`:
  // what follows runtime values. `wake`: asks for detectOutliers() soon, on any thread; may be
  // null.
  Clusters(stats::Registry& registry, unsigned workers, NameIds& ids, Retired& retired,
           TlsSockets& tls_sockets, net::SharedTransport transport, RuntimeSlots& slots,
           log_files::LogFiles& logs, health::Checker& checker,
           std::shared_ptr<upstream::HealthInbox> health, std::function<void()> wake,
           std::string zone);

  // In the place of the cluster of that name, if there is one. Where the plan says that it waits,
  // that one goes on until endWait(), or there is none for anybody but who gives it hosts. The
  // error names what is wrong with its TLS; nothing has changed then.
  Result<void> apply(const plan::Cluster& plan, Delta* delta);
  // Hosts of an address that the cluster has already go on as they are, unless they are reached or
  // checked otherwise now. The error names what is wrong; nothing has changed then.
  Result<void> assign(plan::Assignment plan, Delta* delta);
  // The one that waits for its place takes it now, if there is one of that name.
  Result<void> endWait(const std::string& name, Delta* delta);
  // One that waits needs nothing any more but a round of checks of its hosts, of which those that
  // have ended before may be some.
  void beginRound(const std::string& name, bool with_earlier);
  // Its round of checks is not over.
  bool awaitsRound(const std::string& name) const;
  // It goes on with the hosts of the one before it, and nobody has said yet which it has.
  bool hasOthersHosts(const std::string& name) const;
  // What has been found out of hosts' health: each cluster whose hosts it changes has a new set of
  // the same hosts.
  void applyHealth(const std::vector<upstream::HealthChange>& changes, Delta* delta);
  // Some host that is to be checked has not been yet, or a cluster of such hosts waits.
  bool awaitsChecks() const;
  // Does what detectors of outliers have to do by now, in milliseconds of upstream::hostClockMs().
  void detectOutliers(uint64_t now_ms, Delta* delta);
  // Hosts have the weights, and localities the shares, that follow from what hosts report of their
  // load.
  void weighLoads(uint64_t now_ms, Delta* delta);
  // Workers hear of changes that have waited for others.
  void tellMerged(uint64_t now_ms, Delta* delta);
  Outliers& outliers() { return outliers_; }
  // Of clusters that come later; outlives this.
  void useNames(const upstream::NameCaches& names) { names_ = &names; }
  // Makes what becomes of requests to clusters, of those that come later; outlives this.
  using BuildRules = std::function<Result<std::shared_ptr<const upstream::ClusterPart>>(
      const plan::RequestRules& plan, const stats::Scope& scope)>;
  void useRequestRules(BuildRules build) { build_rules_ = std::move(build); }
  // Hosts that workers have made are known from here on, and those that nobody uses are not.
  void keepDestinations(uint64_t now_ms, Delta* delta);
  // When either has something to do by itself, by the same clock; UINT64_MAX: never.
  uint64_t due() const {
    return std::min({outliers_.due(), destinations_.due(), load_weights_.due(),
                     locality_loads_.due(), windows_.due()});
  }
  // False: there is none of that name.
  bool remove(const std::string& name, Delta* delta);
  // Kept for a cluster of that name that comes later, or takes its place.
  void applyRuntime(const plan::ClusterRuntime& runtime);
  // Whether one that is in its place waits for its first hosts, which is shown. Of one that is
  // hidden, whether calls wait for its name.
  void setWarming(const std::string& name, bool is_warming);
  // What comes later goes into another delta.
  void endDelta() { in_delta_.clear(); }

  // What is made only when someone reads or it is sent: circuit breakers, and what single hosts
  // have counted.
  void refreshGauges();
  // Workers run from here on, and count what they would have before.
  void startWorkers();
  // Those that are in their places.
  const std::map<std::string, std::shared_ptr<upstream::Cluster>>& all() const { return clusters_; }
  // Also one that waits for a place that no other has. Null: there is none.
  std::shared_ptr<upstream::Cluster> findAny(const std::string& name) const;

 private:
  using Hosts = std::vector<std::shared_ptr<upstream::Host>>;
  // A cluster that is in no place yet.
  struct Made {
    std::shared_ptr<upstream::Cluster> cluster;
    // What checks its hosts, until it waits or is in its place; null: nothing does.
    std::shared_ptr<const health::CheckConfig> checks;
    std::shared_ptr<const health::LoadConfig> questions;
    // It has its own hosts by now, and they are checked.
    bool has_waited = false;
    bool is_round_over = false;
  };
  Result<Made> make(const plan::Cluster& plan);
  Result<void> putInPlace(Made made, Delta* delta);
  void wait(Made made);
  // Nothing is to come in the place of that name any more.
  void forgetWaiting(const std::string& name);
  bool isWaiting(const upstream::Cluster& cluster) const;
  // Those of them that wait need nothing any more.
  void endRounds(const std::unordered_set<upstream::ClusterLife>& ended);

  // The same hosts, told apart anew by what is known of them. Null: workers hear of it later.
  void regroup(const std::shared_ptr<upstream::Cluster>& cluster, Hosts hosts, Delta* delta);
  // The same where so many changes of their health have been found out, one after the other.
  void regroupByHealth(const std::shared_ptr<upstream::Cluster>& cluster, size_t changes,
                       Delta* delta);
  // From its first hosts on, and their first checks, changes count.
  void noteReady(const upstream::Cluster& cluster);
  // False: workers hear of it later.
  bool noteUpdate(const upstream::Cluster& cluster,
                  const std::vector<UpdateWindows::Change>& changes);
  void noteWhole(const upstream::Cluster& cluster,
                 const std::vector<UpdateWindows::Change>& changes);
  // Of what a set counts that has been made.
  void countBalancing(upstream::Cluster& cluster);
  ClusterChange& changeOf(const upstream::Cluster& cluster, Delta* delta);
  // Null: workers hear of it later.
  void put(const std::shared_ptr<upstream::Cluster>& cluster,
           std::shared_ptr<const upstream::HostSet> hosts, Delta* delta);
  void retire(const upstream::Cluster& cluster);
  void addStats(upstream::Cluster& cluster);
  // Null: bytes in the clear.
  // `plan`: a cluster, or one of its transport_matches. `own_stats`: the cluster's.
  template <typename Socket>
  Result<net::SharedTransport> makeTransport(
      const Socket& plan, const stats::Scope& scope,
      const std::shared_ptr<stats::Block<stats::Cluster>>& own_stats);
  Result<upstream::TransportChoice> makeTransportChoice(
      const plan::Cluster& plan, const stats::Scope& scope,
      const std::shared_ptr<stats::Block<stats::Cluster>>& own_stats);
  // Nobody asks where the cluster's plan says nothing of checks.
  Result<std::shared_ptr<const health::CheckConfig>> makeChecks(
      const std::shared_ptr<upstream::Cluster>& cluster);
  // The hosts of the cluster as it is now are checked, and asked for their load, as far as its plan
  // wants it.
  Result<void> check(upstream::Cluster& cluster);
  // Of the cluster's hosts.
  void stopChecks(const upstream::Cluster& cluster);
  void stopQuestions(uint32_t cluster);
  // What is known of a host's health before anybody asked.
  void setUnchecked(const upstream::Cluster& cluster, upstream::Host& host) const;
  // Of the hosts of a cluster in whose place comes another.
  void forgetChecks(const upstream::Cluster& before, const upstream::Cluster& after) const;
  // Of an assignment: its hosts, and those that others of their address have replaced.
  struct Taken {
    Hosts hosts;
    Hosts replaced;
    // Each of them was there, and has nothing new.
    bool is_same = true;
    // By priority: where one that was there has something new.
    std::vector<UpdateWindows::Change> updates;
  };
  Result<void> assignTo(const std::shared_ptr<upstream::Cluster>& cluster, plan::Assignment plan,
                        Delta* delta);
  using HostPlans = std::shared_ptr<const std::vector<plan::Host>>;
  Taken takeHosts(upstream::Cluster& cluster, const HostPlans& plans);
  // Hosts that discovery names no more and that are well stay, until a check of theirs fails.
  Hosts wellOnes(const upstream::Cluster& cluster, const Taken& named) const;
  // As the real server shows it: of the last priority alone.
  void showMaxWeight(upstream::Cluster& cluster, const plan::Assignment& plan,
                     const std::vector<plan::Host>& hosts);
  // Null: there are no zones between which answers go.
  std::shared_ptr<stats::Block<stats::ClusterZone>> zoneStatsOf(upstream::Cluster& cluster,
                                                                const std::string& zone);
  void countMembers(upstream::Cluster& cluster, const upstream::HostSet& hosts,
                    bool shows_none = false);
  void showCount();
  void showWaiting();
  std::shared_ptr<const upstream::HostSet> hostsAtFirst(upstream::Cluster& cluster,
                                                        const upstream::Cluster* before);
  // Its hosts as they are known now, for those who balance.
  std::shared_ptr<const upstream::HostSet> ownHosts(upstream::Cluster& cluster);
  std::shared_ptr<const upstream::HostSet> noHosts(uint32_t panic_threshold_pct);
  // Gives a set what the cluster balances by, and shows it.
  void prepareBalancing(upstream::Cluster& cluster, upstream::HostSet* set);
  void countSubsets(upstream::Cluster& cluster, const upstream::SubsetIndex* now);
  // What every thread's balancer of a cluster reckons when its hosts, or the local ones, are
  // others.
  void countZones(upstream::Cluster& cluster);
  // The same where localities share by their load: of priorities that have more or fewer of them.
  void countLocalities(upstream::Cluster& cluster, const upstream::HostSet& now);
  void countZonesOfAll();
  // What each thread that balances counts for itself; workers only once they run.
  void countOnThreads(upstream::Cluster& cluster, stats::Cluster::Counter counter, uint64_t times);

  stats::Registry& registry_;
  const unsigned workers_;
  bool do_workers_run_ = false;
  // What workers have to count once they run.
  struct OwedCount {
    std::shared_ptr<stats::Block<stats::Cluster>> stats;
    stats::Cluster::Counter counter;
    uint64_t times;
  };
  std::vector<OwedCount> owed_counts_;
  // This proxy's own; empty: nobody says which it is.
  const std::string zone_;
  NameIds& ids_;
  Retired& retired_;
  TlsSockets& tls_sockets_;
  const upstream::NameCaches* names_ = nullptr;
  BuildRules build_rules_;
  const net::SharedTransport transport_;
  RuntimeSlots& slots_;
  log_files::LogFiles& logs_;
  health::Checker& checker_;
  const std::shared_ptr<upstream::HealthInbox> health_;
  // Of clusters whose hosts are checked, also of those that wait.
  std::unordered_map<const upstream::Cluster*, std::shared_ptr<const health::CheckConfig>> checks_;
  // Of those whose hosts are asked for their load, by number.
  std::unordered_map<uint32_t, std::shared_ptr<const health::LoadConfig>> questions_;
  Outliers outliers_;
  Destinations destinations_;
  LoadWeights load_weights_;
  LocalityLoads locality_loads_;
  EndpointStats endpoint_stats_;
  const std::shared_ptr<stats::Block<stats::ClusterManager>> stats_;
  UpdateWindows windows_;
  // Clusters, by number, that wait for their first hosts or those hosts' first checks.
  std::unordered_set<uint32_t> unready_;
  // Of the control thread, then of the workers.
  std::vector<std::shared_ptr<stats::Block<stats::ClusterManagerThread>>> inflated_stats_;
  // Null until a cluster's hosts come from DNS.
  std::shared_ptr<stats::BlockBase> resolver_stats_;
  std::map<std::string, std::shared_ptr<upstream::Cluster>> clusters_;
  // By name: those that wait for their place, while the cluster goes on that has it, if there is
  // one. No worker knows them.
  std::unordered_map<std::string, Made> waiting_;
  // By name: those that say something.
  std::map<std::string, plan::ClusterRuntime> runtimes_;
  // Of this proxy and its like. Null: nobody knows them.
  std::shared_ptr<const upstream::HostSet> local_hosts_;
  // By panic threshold.
  std::map<uint32_t, std::shared_ptr<const upstream::HostSet>> no_hosts_;
  // How many clusters are nobody's business.
  size_t hidden_ = 0;
  // Those that have a place and not all that they need yet.
  std::unordered_set<std::string> warming_;
  bool has_had_any_ = false;
  // Where the delta has the change of a cluster, by its number.
  std::unordered_map<uint32_t, size_t> in_delta_;
};

}  // namespace fairlead::worker
