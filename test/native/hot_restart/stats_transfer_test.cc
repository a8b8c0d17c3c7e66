#include "hot_restart/stats_transfer.h"

#include <string>

#include "stats/sink_flush.h"
#include "test/native/stats/pages.h"
#include "test/native/test.h"

namespace fairlead::hot_restart {

namespace {

using stats::CodeVariant;
using Counter = stats::Cluster::Counter;
using Gauge = stats::Cluster::Gauge;

constexpr unsigned kWorkers = 1;

// Everything that there is to tell.
std::string tell(StatsExport& from) {
  std::string all;
  while (from.next(&all, 1'000'000)) {
  }
  return all;
}

struct Process {
  stats::Registry registry{kWorkers};
  std::shared_ptr<stats::Block<stats::Cluster>> block =
      registry.create<stats::Cluster>(stats::clusterScope("a"));

  stats::Shard<stats::Cluster>& worker() { return *block->shard(1); }
  uint64_t value(const char* name) const { return registry.value(name).value_or(UINT64_MAX); }
};

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

TEST("totals come first, then what was added, through any number of processes") {
  Process first;
  Process second;
  Process third;
  StatsExport to_second(first.registry);
  StatsExport to_third(second.registry);
  const auto pass = [&] {
    EXPECT(importStats(second.registry, tell(to_second)));
    EXPECT(importStats(third.registry, tell(to_third)));
  };
  first.worker().add(Counter::UpstreamRqTotal, 5);
  second.worker().add(Counter::UpstreamRqTotal, 100);
  pass();
  EXPECT(second.value("cluster.a.upstream_rq_total") == 105);
  EXPECT(third.value("cluster.a.upstream_rq_total") == 105);
  first.worker().add(Counter::UpstreamRqTotal, 2);
  third.worker().add(Counter::UpstreamRqTotal, 1000);
  pass();
  pass();
  EXPECT(second.value("cluster.a.upstream_rq_total") == 107);
  EXPECT(third.value("cluster.a.upstream_rq_total") == 1107);
}

TEST("answers by status go on under all their names") {
  Process first;
  Process second;
  StatsExport to_second(first.registry);
  first.worker().countResponse(CodeVariant::All, 200);
  first.worker().countResponse(CodeVariant::External, 503);
  first.worker().countResponse(CodeVariant::All, 999);
  EXPECT(importStats(second.registry, tell(to_second)));
  second.worker().countResponse(CodeVariant::All, 204);
  first.worker().countResponse(CodeVariant::All, 200);
  EXPECT(importStats(second.registry, tell(to_second)));

  EXPECT(second.value("cluster.a.upstream_rq_200") == 2);
  EXPECT(second.value("cluster.a.upstream_rq_2xx") == 3);
  EXPECT(second.value("cluster.a.external.upstream_rq_503") == 1);
  EXPECT(second.value("cluster.a.external.upstream_rq_completed") == 1);
  EXPECT(second.value("cluster.a.upstream_rq_unknown") == 1);
}

TEST("answers that are counted as completed alone go on, through any number of processes") {
  Process first;
  stats::Registry second{kWorkers};
  Process third;
  StatsExport to_second(first.registry);
  StatsExport to_third(second);
  const auto pass = [&] {
    EXPECT(importStats(second, tell(to_second)));
    EXPECT(importStats(third.registry, tell(to_third)));
  };
  first.worker().countResponse(CodeVariant::Retry, 503);
  first.worker().countResponse(CodeVariant::Retry, 999);
  first.worker().countResponse(CodeVariant::Retry, stats::CodeCounts::kCompletedOnly);
  first.worker().countResponse(CodeVariant::All, 200);
  first.worker().add(Counter::UpstreamRqCompleted, 1);
  pass();
  first.worker().countResponse(CodeVariant::Retry, stats::CodeCounts::kCompletedOnly);
  pass();
  // By way of a process that has no such scope.
  EXPECT(third.value("cluster.a.retry.upstream_rq_completed") == 4);
  EXPECT(third.value("cluster.a.retry.upstream_rq_503") == 1);
  EXPECT(third.value("cluster.a.retry.upstream_rq_5xx") == 1);
  EXPECT(third.value("cluster.a.upstream_rq_completed") == 1);
  const std::string page =
      stats::whole(stats::openText, second, stats::matching("cluster.a.retry."));
  EXPECT_EQ(page,
            "cluster.a.retry.upstream_rq_503: 1\n"
            "cluster.a.retry.upstream_rq_5xx: 1\n"
            "cluster.a.retry.upstream_rq_completed: 4\n"
            "cluster.a.retry.upstream_rq_unknown: 1\n");
  const auto block = second.create<stats::Cluster>(stats::clusterScope("a"));
  EXPECT(second.value("cluster.a.retry.upstream_rq_completed") == 4u);
}

TEST("gauges are both processes' until the other is gone; those of a process are its own") {
  Process first;
  Process second;
  StatsExport to_second(first.registry);
  first.worker().up(Gauge::UpstreamCxActive, 4);
  first.worker().set(Gauge::MembershipTotal, 9);
  second.worker().up(Gauge::UpstreamCxActive, 1);
  EXPECT(importStats(second.registry, tell(to_second)));
  EXPECT(second.value("cluster.a.upstream_cx_active") == 5);
  EXPECT(second.value("cluster.a.membership_total") == 0);
  first.worker().down(Gauge::UpstreamCxActive, 4);
  EXPECT(importStats(second.registry, tell(to_second)));
  EXPECT(second.value("cluster.a.upstream_cx_active") == 1);
  first.worker().up(Gauge::UpstreamCxActive, 2);
  EXPECT(importStats(second.registry, tell(to_second)));
  second.registry.endImports();
  EXPECT(second.value("cluster.a.upstream_cx_active") == 1);
}

TEST("whoever asks instead of a process that died gets what that one did not, and all gauges") {
  Process first;
  Process third;
  StatsExport from_first(first.registry);
  first.worker().add(Counter::UpstreamRqTotal, 5);
  first.worker().countResponse(CodeVariant::All, 200);
  first.worker().up(Gauge::UpstreamCxActive, 4);
  const std::string told_to_second = tell(from_first);
  first.worker().add(Counter::UpstreamRqTotal, 2);
  from_first.changeListener();
  EXPECT(importStats(third.registry, told_to_second));
  third.registry.endImports();
  EXPECT(importStats(third.registry, tell(from_first)));
  EXPECT(third.value("cluster.a.upstream_rq_total") == 7);
  EXPECT(third.value("cluster.a.upstream_rq_200") == 1);
  EXPECT(third.value("cluster.a.upstream_cx_active") == 4);
}

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

TEST("a reset counter counts from there, in both processes") {
  Process first;
  Process second;
  StatsExport to_second(first.registry);
  first.worker().add(Counter::UpstreamRqTotal, 5);
  EXPECT(importStats(second.registry, tell(to_second)));
  second.registry.resetCounters();
  EXPECT(second.value("cluster.a.upstream_rq_total") == 0);
  first.worker().add(Counter::UpstreamRqTotal, 2);
  EXPECT(importStats(second.registry, tell(to_second)));
  EXPECT(second.value("cluster.a.upstream_rq_total") == 2);
}

TEST("a scope that is renewed is told once, and one that comes anew from 0") {
  Process first;
  Process second;
  StatsExport to_second(first.registry);
  const auto pass = [&] { EXPECT(importStats(second.registry, tell(to_second))); };
  first.worker().add(Counter::UpstreamRqTotal, 5);
  first.worker().countResponse(CodeVariant::All, 200);
  pass();
  auto next = first.registry.renew<stats::Cluster>(stats::clusterScope("a"));
  pass();
  EXPECT(second.value("cluster.a.upstream_rq_total") == 5);
  first.block = next;
  first.registry.sweep();
  pass();
  first.worker().add(Counter::UpstreamRqTotal);
  first.worker().countResponse(CodeVariant::All, 200);
  pass();
  EXPECT(second.value("cluster.a.upstream_rq_total") == 6);
  EXPECT(second.value("cluster.a.upstream_rq_200") == 2);
  // Now it is gone, and another has its name.
  next.reset();
  first.block.reset();
  first.block = first.registry.create<stats::Cluster>(stats::clusterScope("a"));
  first.worker().add(Counter::UpstreamRqTotal, 3);
  pass();
  EXPECT(second.value("cluster.a.upstream_rq_total") == 9);
}

TEST("sinks get what is added after the takeover, not the totals that came with it") {
  Process first;
  Process second;
  StatsExport to_second(first.registry);
  first.worker().add(Counter::UpstreamRqTotal, 5);
  first.worker().countResponse(CodeVariant::All, 200);
  EXPECT(importStats(second.registry, tell(to_second)));
  second.registry.markImportedSent();
  first.worker().add(Counter::UpstreamRqTotal, 2);
  first.worker().countResponse(CodeVariant::All, 200);
  second.worker().add(Counter::UpstreamRqTotal, 1);
  EXPECT(importStats(second.registry, tell(to_second)));

  std::vector<stats::BlockBase::Latched> counters;
  second.block->latchCounters(&counters);
  EXPECT(counters[static_cast<size_t>(Counter::UpstreamRqTotal)].delta == 3);
  EXPECT(counters[static_cast<size_t>(Counter::UpstreamRqTotal)].value == 8);
  for (const auto& code : second.block->latchCodes()) {
    if (code.name == stats::CodeName::status(CodeVariant::All, 200)) EXPECT(code.delta == 1);
  }
}

TEST("batches are cut between scopes, and together tell everything") {
  Process first;
  std::vector<std::shared_ptr<stats::Block<stats::Cluster>>> blocks;
  for (int i = 0; i < 50; ++i) {
    blocks.push_back(
        first.registry.create<stats::Cluster>(stats::clusterScope("c" + std::to_string(i))));
    blocks.back()->shard(1)->add(Counter::UpstreamRqTotal, 1);
  }
  Process second;
  std::vector<std::shared_ptr<stats::Block<stats::Cluster>>> same;
  for (int i = 0; i < 50; ++i) {
    same.push_back(
        second.registry.create<stats::Cluster>(stats::clusterScope("c" + std::to_string(i))));
  }
  StatsExport to_second(first.registry);
  int batches = 0;
  for (bool more = true; more; ++batches) {
    std::string batch;
    more = to_second.next(&batch, 200);
    EXPECT(batch.size() < 300);
    EXPECT(importStats(second.registry, batch));
  }
  EXPECT(batches > 5);
  for (const auto& block : same) {
    EXPECT(block->counter(static_cast<size_t>(Counter::UpstreamRqTotal)).value == 1);
  }
}

TEST("bytes that are no batch are refused, and change nothing") {
  Process process;
  EXPECT(!importStats(process.registry, "\x0a\x7f"));
  EXPECT(!importStats(process.registry, "\xff\xff\xff\xff"));
  EXPECT(importStats(process.registry, ""));
}

}  // namespace fairlead::hot_restart
