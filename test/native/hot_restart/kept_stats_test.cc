// Statistics of scopes that only an earlier process has.
#include <string>

#include "stats/sink_flush.h"
#include "test/native/hot_restart/processes.h"
#include "test/native/stats/pages.h"
#include "test/native/test.h"

namespace fairlead::hot_restart {

namespace {

using stats::CodeVariant;
using Counter = stats::Cluster::Counter;
using Gauge = stats::Cluster::Gauge;

// What readers see of a cluster.
std::string shown(const stats::Registry& registry, bool used_only = false) {
  stats::Query query = stats::matching("cluster.old.");
  query.used_only = used_only;
  return stats::whole(stats::openText, registry, query);
}

std::string sent(stats::Registry& registry) {
  const std::vector<stats::SinkFormat> formats{{stats::SinkFormat::Kind::Statsd, "e"}};
  stats::SinkFlush flush(registry, formats, 1);
  std::vector<std::string> out(1);
  while (flush.next(&out)) {
  }
  return out[0];
}

}  // namespace

TEST("counts of a scope that does not exist yet wait for it, and are handed on meanwhile") {
  Process first;
  Process second;
  Process third;
  auto other = first.registry.create<stats::Cluster>(stats::clusterScope("late"));
  other->shard(1)->add(Counter::UpstreamRqTotal, 3);
  StatsExport to_second(first.registry);
  StatsExport to_third(second.registry);
  EXPECT(importStats(second.registry, tell(to_second)));
  EXPECT(!second.registry.value("cluster.late.upstream_rq_total"));
  const auto late = third.registry.create<stats::Cluster>(stats::clusterScope("late"));
  EXPECT(importStats(third.registry, tell(to_third)));
  EXPECT(third.value("cluster.late.upstream_rq_total") == 3);
  const auto arrived = second.registry.create<stats::Cluster>(stats::clusterScope("late"));
  EXPECT(second.value("cluster.late.upstream_rq_total") == 3);
}

TEST("what was handed on before its scope came is not told again as the scope's") {
  Process first;
  stats::Registry second{kWorkers};
  Process third;
  StatsExport to_second(first.registry);
  StatsExport to_third(second);
  const auto count = [&] {
    first.worker().add(Counter::UpstreamRqTotal, 3);
    first.worker().countResponse(CodeVariant::External, 200);
    first.worker().countResponse(CodeVariant::Retry, stats::CodeCounts::kCompletedOnly);
    EXPECT(importStats(second, tell(to_second)));
  };
  const auto has = [&](uint64_t requests, uint64_t answers) {
    EXPECT(importStats(third.registry, tell(to_third)));
    EXPECT(third.value("cluster.a.upstream_rq_total") == requests);
    EXPECT(third.value("cluster.a.external.upstream_rq_200") == answers);
    EXPECT(third.value("cluster.a.external.upstream_rq_completed") == answers);
    EXPECT(third.value("cluster.a.retry.upstream_rq_completed") == answers);
  };
  count();
  has(3, 1);
  // Of this nobody was told before the scope came.
  count();
  auto block = second.create<stats::Cluster>(stats::clusterScope("a"));
  block->shard(1)->add(Counter::UpstreamRqTotal, 10);
  has(16, 2);
  has(16, 2);
  // It goes, is kept, and comes once more.
  block.reset();
  count();
  has(19, 3);
  block = second.create<stats::Cluster>(stats::clusterScope("a"));
  count();
  has(22, 4);
}

TEST("gauges of a scope that does not exist yet wait for it, until the process is gone") {
  Process first;
  stats::Registry second{kWorkers};
  StatsExport to_second(first.registry);
  first.worker().up(Gauge::UpstreamCxActive, 4);
  EXPECT(importStats(second, tell(to_second)));
  const auto block = second.create<stats::Cluster>(stats::clusterScope("a"));
  EXPECT(second.value("cluster.a.upstream_cx_active") == 4);
  second.endImports();
  EXPECT(second.value("cluster.a.upstream_cx_active") == 0);

  stats::Registry third{kWorkers};
  StatsExport to_third(first.registry);
  EXPECT(importStats(third, tell(to_third)));
  third.endImports();
  const auto late = third.create<stats::Cluster>(stats::clusterScope("a"));
  EXPECT(third.value("cluster.a.upstream_cx_active") == 0);
}

TEST("gauges of a scope that does not exist yet are handed on, until their process is gone") {
  Process first;
  stats::Registry second{kWorkers};
  Process third;
  StatsExport to_second(first.registry);
  StatsExport to_third(second);
  const auto has = [&](uint64_t connections) {
    EXPECT(importStats(second, tell(to_second)));
    EXPECT(importStats(third.registry, tell(to_third)));
    EXPECT(third.value("cluster.a.upstream_cx_active") == connections);
  };
  third.worker().up(Gauge::UpstreamCxActive);
  first.worker().up(Gauge::UpstreamCxActive, 4);
  has(5);
  EXPECT(tell(to_third).empty());
  first.worker().up(Gauge::UpstreamCxActive, 2);
  has(7);
  // Its scope comes, with connections of its own.
  auto block = second.create<stats::Cluster>(stats::clusterScope("a"));
  has(7);
  block->shard(1)->up(Gauge::UpstreamCxActive);
  has(8);
  second.endImports();
  EXPECT(importStats(third.registry, tell(to_third)));
  EXPECT(third.value("cluster.a.upstream_cx_active") == 2);

  stats::Registry other{kWorkers};
  StatsExport to_other(first.registry);
  StatsExport from_other(other);
  EXPECT(importStats(other, tell(to_other)));
  Process last;
  EXPECT(importStats(last.registry, tell(from_other)));
  EXPECT(last.value("cluster.a.upstream_cx_active") == 6);
  // Another listener knows nothing of it.
  from_other.changeListener();
  Process next;
  EXPECT(importStats(next.registry, tell(from_other)));
  EXPECT(next.value("cluster.a.upstream_cx_active") == 6);
  other.endImports();
  EXPECT(importStats(next.registry, tell(from_other)));
  EXPECT(next.value("cluster.a.upstream_cx_active") == 0);
}

TEST("what only an earlier process has is shown as long as that one is there") {
  stats::Registry first{kWorkers};
  stats::Registry second{kWorkers};
  auto old = first.create<stats::Cluster>(stats::clusterScope("old"));
  StatsExport to_second(first);
  old->shard(1)->add(Counter::UpstreamRqTotal, 2);
  old->shard(1)->countResponse(CodeVariant::All, 200);
  old->shard(1)->up(Gauge::UpstreamCxActive);
  old->shard(1)->set(Gauge::MembershipTotal, 1);
  // Used, and 0.
  old->shard(1)->up(Gauge::UpstreamRqActive);
  old->shard(1)->down(Gauge::UpstreamRqActive);
  EXPECT(importStats(second, tell(to_second)));

  EXPECT_EQ(shown(second),
            "cluster.old.membership_total: 1\n"
            "cluster.old.upstream_cx_active: 1\n"
            "cluster.old.upstream_rq_200: 1\n"
            "cluster.old.upstream_rq_2xx: 1\n"
            "cluster.old.upstream_rq_active: 0\n"
            "cluster.old.upstream_rq_completed: 1\n"
            "cluster.old.upstream_rq_total: 2\n");
  // No gauge of it was used here.
  EXPECT_EQ(shown(second, true),
            "cluster.old.upstream_rq_200: 1\n"
            "cluster.old.upstream_rq_2xx: 1\n"
            "cluster.old.upstream_rq_completed: 1\n"
            "cluster.old.upstream_rq_total: 2\n");
  const std::string metrics =
      stats::whole(stats::openPrometheus, second, stats::matching("cluster.old."));
  EXPECT(metrics.find("envoy_cluster_upstream_rq{envoy_response_code=\"200\","
                      "envoy_cluster_name=\"old\"} 1\n") != std::string::npos);
  EXPECT(metrics.find("envoy_cluster_upstream_cx_active{envoy_cluster_name=\"old\"} 1\n") !=
         std::string::npos);

  old->shard(1)->add(Counter::UpstreamRqTotal, 3);
  EXPECT(importStats(second, tell(to_second)));
  second.endImports();
  EXPECT_EQ(shown(second), "");
  const auto late = second.create<stats::Cluster>(stats::clusterScope("old"));
  EXPECT(second.value("cluster.old.upstream_rq_total") == 5);
}

TEST("what a process has counted that ended before is handed on, and not shown") {
  stats::Registry first{kWorkers};
  stats::Registry second{kWorkers};
  stats::Registry third{kWorkers};
  const auto old = first.create<stats::Cluster>(stats::clusterScope("old"));
  old->shard(1)->add(Counter::UpstreamRqTotal, 2);
  StatsExport to_second(first);
  EXPECT(importStats(second, tell(to_second)));
  second.endImports();
  StatsExport to_third(second);
  EXPECT(importStats(third, tell(to_third)));
  EXPECT_EQ(shown(third), "");
  const auto late = third.create<stats::Cluster>(stats::clusterScope("old"));
  EXPECT(third.value("cluster.old.upstream_rq_total") == 2);
}

TEST("sinks get what only an earlier process counts, once, and nothing of what was sent before") {
  stats::Registry first{kWorkers};
  stats::Registry second{kWorkers};
  const auto old = first.create<stats::Cluster>(stats::clusterScope("old"));
  StatsExport to_second(first);
  const auto pass = [&](uint64_t requests) {
    old->shard(1)->add(Counter::UpstreamRqTotal, requests);
    old->shard(1)->countResponse(CodeVariant::External, 503);
    EXPECT(importStats(second, tell(to_second)));
  };
  const auto lines = [](const char* requests, const char* answers) {
    std::string all;
    for (const char* name : {"upstream_rq_503", "upstream_rq_5xx", "upstream_rq_completed"}) {
      all.append("e.cluster.old.external.").append(name).append(answers);
    }
    return "e.cluster.old.upstream_rq_total" + std::string(requests) + all;
  };
  pass(5);
  second.markImportedSent();
  pass(2);
  EXPECT_EQ(sent(second), lines(":2|c\n", ":1|c\n"));
  EXPECT_EQ(sent(second), lines(":0|c\n", ":0|c\n"));
  pass(1);
  second.resetCounters();
  EXPECT(shown(second).find("upstream_rq_total: 0\n") != std::string::npos);
  pass(4);
  EXPECT(shown(second).find("upstream_rq_total: 4\n") != std::string::npos);
  EXPECT_EQ(sent(second), lines(":5|c\n", ":2|c\n"));
}

TEST("sinks get what an earlier process counted last, though it has ended since") {
  stats::Registry first{kWorkers};
  stats::Registry second{kWorkers};
  const auto old = first.create<stats::Cluster>(stats::clusterScope("old"));
  StatsExport to_second(first);
  old->shard(1)->add(Counter::UpstreamRqTotal, 5);
  old->shard(1)->add(Counter::UpstreamCxTotal, 1);
  EXPECT(importStats(second, tell(to_second)));
  second.markImportedSent();
  old->shard(1)->add(Counter::UpstreamRqTotal, 2);
  EXPECT(importStats(second, tell(to_second)));
  second.endImports();
  EXPECT_EQ(shown(second), "");
  EXPECT_EQ(sent(second), "e.cluster.old.upstream_rq_total:2|c\n");
  EXPECT_EQ(sent(second), "");
}

TEST("sinks get what is unsent of a scope that comes before the flush") {
  Process first;
  stats::Registry second{kWorkers};
  StatsExport to_second(first.registry);
  const auto count = [&](uint64_t requests) {
    first.worker().add(Counter::UpstreamRqTotal, requests);
    for (uint64_t i = 0; i < requests; ++i) first.worker().countResponse(CodeVariant::All, 200);
    EXPECT(importStats(second, tell(to_second)));
  };
  count(5);
  second.markImportedSent();
  count(2);
  const auto block = second.create<stats::Cluster>(stats::clusterScope("a"));
  const std::string lines = sent(second);
  EXPECT(lines.find("e.cluster.a.upstream_rq_total:2|c\n") != std::string::npos);
  EXPECT(lines.find("e.cluster.a.upstream_rq_200:2|c\n") != std::string::npos);
  EXPECT(sent(second).find("e.cluster.a.upstream_rq_200:0|c\n") != std::string::npos);
  EXPECT(second.value("cluster.a.upstream_rq_total") == 7);
  EXPECT(second.value("cluster.a.upstream_rq_200") == 7);
}

}  // namespace fairlead::hot_restart
