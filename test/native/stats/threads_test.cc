// What the thread sanitizer watches: one writer per shard, one reader of all.
#include <atomic>
#include <thread>
#include <vector>

#include "stats/query.h"
#include "test/native/test.h"

namespace fairlead::stats {

TEST("workers write while the control thread reads; nothing is lost, no gauge is seen below 0") {
  constexpr unsigned kWorkers = 2;
  constexpr int kRounds = 20'000;
  Registry registry(kWorkers);
  const auto cluster = registry.create<Cluster>(clusterScope("be"));
  std::atomic<unsigned> running{kWorkers};
  std::vector<std::thread> workers;
  for (unsigned worker = 0; worker < kWorkers; ++worker) {
    workers.emplace_back([&, worker] {
      Shard<Cluster>& shard = *cluster->shard(worker + 1);
      for (int i = 0; i < kRounds; ++i) {
        shard.up(Cluster::Gauge::UpstreamRqActive);
        shard.add(Cluster::Counter::UpstreamRqTotal);
        // Slots that are made while they are read.
        if (i == kRounds / 2) shard.up(Cluster::Gauge::CircuitBreakersHighCxOpen);
        if (i % 1000 == 999) shard.add(Cluster::Counter::UpstreamRqRetry);
        shard.countResponse(CodeVariant::All, static_cast<uint16_t>(200 + i % 7));
        shard.record(Cluster::Histogram::UpstreamRqTime, static_cast<uint64_t>(i));
        shard.down(Cluster::Gauge::UpstreamRqActive);
      }
      running.fetch_sub(1);
    });
  }
  uint64_t seen = 0;
  while (running.load() > 0) {
    registry.flushHistograms();
    const uint64_t total = registry.value("cluster.be.upstream_rq_total").value_or(0);
    EXPECT(total >= seen);
    seen = total;
    // Much goes up and down while it is read: it may seem higher than it was, but never below 0.
    EXPECT(registry.value("cluster.be.upstream_rq_active").value_or(0) <= kWorkers * kRounds);
    std::string text;
    const std::unique_ptr<Page> page = openText(registry, {});
    while (page->next(&text)) {
    }
  }
  for (std::thread& worker : workers) worker.join();

  registry.flushHistograms();
  EXPECT_EQ(registry.value("cluster.be.upstream_rq_total").value_or(0), kWorkers * kRounds);
  EXPECT_EQ(registry.value("cluster.be.upstream_rq_active").value_or(99), 0u);
  EXPECT_EQ(registry.value("cluster.be.upstream_rq_retry").value_or(0), kWorkers * kRounds / 1000);
  EXPECT_EQ(registry.value("cluster.be.circuit_breakers.high.cx_open").value_or(0), kWorkers);
  const auto time = static_cast<size_t>(Cluster::Histogram::UpstreamRqTime);
  EXPECT_EQ(cluster->total(time).count(), kWorkers * kRounds);
  uint64_t answers = 0;
  for (const BlockBase::Code& code : cluster->codes()) {
    if (code.name.statusNumber() > 0) answers += code.value;
  }
  EXPECT_EQ(answers, kWorkers * kRounds);
}

TEST("what one worker put up another takes down, and the reader never sees the latter first") {
  Registry registry(2);
  const auto cluster = registry.create<Cluster>(clusterScope("be"));
  constexpr uint64_t kRounds = 50'000;
  std::atomic<uint64_t> handed{0};
  std::thread giver([&] {
    Shard<Cluster>& shard = *cluster->shard(1);
    for (uint64_t i = 1; i <= kRounds; ++i) {
      shard.up(Cluster::Gauge::UpstreamCxActive);
      handed.store(i, std::memory_order_release);
    }
  });
  std::thread taker([&] {
    Shard<Cluster>& shard = *cluster->shard(2);
    for (uint64_t taken = 0; taken < kRounds;) {
      const uint64_t there = handed.load(std::memory_order_acquire);
      for (; taken < there; ++taken) shard.down(Cluster::Gauge::UpstreamCxActive);
    }
  });
  const auto gauge = static_cast<size_t>(Cluster::Gauge::UpstreamCxActive);
  std::vector<Reading> readings;
  for (int i = 0; i < 2'000; ++i) {
    EXPECT(cluster->gauge(gauge).value <= kRounds);
    cluster->readGauges(&readings);
    EXPECT(readings[gauge].value <= kRounds);
  }
  giver.join();
  taker.join();
  EXPECT_EQ(cluster->gauge(gauge).value, 0u);
}

TEST(
    "scopes end on the threads that used them last, while all are read and sent: nothing is lost") {
  constexpr unsigned kWorkers = 2;
  constexpr uint64_t kScopes = 300;
  Registry registry(kWorkers);
  registry.keepEnded();
  uint64_t sent = 0;
  const auto flush = [&] {
    registry.flushHistograms();
    std::vector<BlockBase::Latched> counters;
    for (const auto& block : registry.blocksToSend()) {
      block->latchCounters(&counters);
      for (const BlockBase::Latched& counter : counters) sent += counter.delta;
    }
  };
  for (uint64_t i = 0; i < kScopes; ++i) {
    auto cluster = registry.create<Cluster>(clusterScope("be-" + std::to_string(i)));
    std::vector<std::thread> workers;
    for (unsigned worker = 0; worker < kWorkers; ++worker) {
      workers.emplace_back([cluster, worker] {
        cluster->shard(worker + 1)->add(Cluster::Counter::UpstreamRqTotal);
        cluster->shard(worker + 1)->add(Cluster::Counter::UpstreamRqRetry);
      });
    }
    cluster.reset();
    flush();
    registry.value("cluster.be-1.upstream_rq_total");
    for (std::thread& worker : workers) worker.join();
  }
  flush();
  EXPECT_EQ(sent, 2 * kWorkers * kScopes);
}

}  // namespace fairlead::stats
