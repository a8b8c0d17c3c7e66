// Outlier detection of all clusters that have it: gives each detector what workers have reported of
// its hosts, and its turn when its interval is over. The control thread's.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "log_files/log_file.h"
#include "stats/registry.h"
#include "upstream/cluster.h"
#include "upstream/outlier/event_log.h"

namespace fairlead::worker {

class Outliers {
 public:
  using ClustersByName = std::map<std::string, std::shared_ptr<upstream::Cluster>>;

  // `wake`: asks for run() soon, on any thread; null: it is called without.
  Outliers(stats::Registry& registry, RuntimeSlots& slots, std::function<void()> wake)
      : registry_(registry),
        slots_(slots),
        reports_(std::make_shared<upstream::OutlierReports>(std::move(wake))) {}

  // Where all of them tell what becomes of hosts.
  void logTo(std::shared_ptr<log_files::LogFile> file) { log_.use(std::move(file)); }
  // Gives a cluster the detector that it is configured with, if any: before it has hosts.
  void attach(upstream::Cluster& cluster, uint64_t now_ms);
  // The cluster is in its place: its detector has its turns.
  void follow(const upstream::Cluster& cluster);
  // What is to be done by now, in milliseconds of upstream::hostClockMs(). Returns the names of the
  // clusters whose hosts are in another health than before, with how often one has changed.
  std::map<std::string, size_t> run(const ClustersByName& clusters, uint64_t now_ms);
  // When the next interval ends; UINT64_MAX: there is none.
  uint64_t due() const { return due_.empty() ? UINT64_MAX : due_.begin()->first; }

 private:
  stats::Registry& registry_;
  RuntimeSlots& slots_;
  const std::shared_ptr<upstream::OutlierReports> reports_;
  upstream::OutlierEventLog log_;
  // Names of clusters, of which some may be gone.
  std::multimap<uint64_t, std::string> due_;
};

}  // namespace fairlead::worker
