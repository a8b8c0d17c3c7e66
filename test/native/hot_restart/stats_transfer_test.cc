#include "hot_restart/stats_transfer.h"

#include <string>

#include "test/native/hot_restart/processes.h"
#include "test/native/stats/pages.h"
#include "test/native/test.h"

namespace fairlead::hot_restart {

namespace {

using stats::CodeVariant;
using Counter = stats::Cluster::Counter;
using Gauge = stats::Cluster::Gauge;

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
