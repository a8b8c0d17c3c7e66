// A batch of statistics from another process is taken whole or not at all, and the next process
// learns the same from what was taken.
#include "hot_restart/stats_transfer.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "stats/registry.h"

namespace {

using namespace fairlead;

constexpr const char* kCounter = "cluster.a.upstream_rq_total";
constexpr const char* kGauge = "cluster.a.upstream_cx_active";

struct Process {
  stats::Registry registry{1};
  std::shared_ptr<stats::Block<stats::Cluster>> cluster =
      registry.create<stats::Cluster>(stats::clusterScope("a"));
};

std::string tell(const Process& process) {
  hot_restart::StatsExport everything(process.registry);
  std::string whole;
  std::string batch;
  bool more = true;
  while (more) {
    more = everything.next(&batch, 100);
    whole += batch;
    batch.clear();
  }
  return whole;
}

}  // namespace

std::vector<std::string> fuzzSeeds() {
  Process process;
  auto& shard = *process.cluster->shard(1);
  shard.add(stats::Cluster::Counter::UpstreamRqTotal, 300);
  shard.set(stats::Cluster::Gauge::UpstreamCxActive, 7);
  process.registry.importCounter(stats::clusterScope("gone"), "upstream_rq_total", 5, false);
  process.registry.importCounter(stats::clusterScope("a"), "upstream_rq_503", 2, false);
  return {tell(process)};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Process process;
  const std::string_view batch(reinterpret_cast<const char*>(data), size);
  const Result<void> taken = hot_restart::importStats(process.registry, batch);
  if (!taken) {
    FL_CHECK(!taken.error().message.empty());
    FL_CHECK(process.registry.value(kCounter) == 0u && process.registry.value(kGauge) == 0u);
    return 0;
  }
  Process next;
  FL_CHECK(hot_restart::importStats(next.registry, tell(process)));
  for (const char* name : {kCounter, kGauge}) {
    FL_CHECK(next.registry.value(name) == process.registry.value(name));
  }
  return 0;
}
