#include "stats/registry.h"

#include <malloc.h>

#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "test/native/test.h"

namespace fairlead::stats {

TEST("a scope that exists is shared, by layout and name") {
  Registry registry(1);
  const auto one = registry.create<Http>(httpScope("in"));
  EXPECT(registry.create<Http>(httpScope("in")) == one);
  EXPECT(registry.create<Http>(httpScope("out")) != one);
  // Another layout under the same prefix is a block of its own.
  registry.create<Cluster>(clusterScope("a"));
  const auto cluster = registry.create<Cluster>(clusterScope("a"));
  const auto sizes = registry.create<MessageSizes>(clusterScope("a"));
  EXPECT_EQ(registry.blocks().size(), 3u);
}

TEST("a scope that nobody holds is gone, and begins at 0 when it comes back") {
  Registry registry(1);
  {
    const auto cluster = registry.create<Cluster>(clusterScope("a"));
    cluster->shard(1)->add(Cluster::Counter::UpstreamRqTotal, 3);
    EXPECT_EQ(registry.value("cluster.a.upstream_rq_total").value_or(99), 3u);
  }
  EXPECT(!registry.value("cluster.a.upstream_rq_total"));
  EXPECT(registry.blocks().empty());
  const auto again = registry.create<Cluster>(clusterScope("a"));
  EXPECT_EQ(registry.value("cluster.a.upstream_rq_total").value_or(99), 0u);
}

TEST("a value is found by its full name, with dots in the scope's name and in the statistic's") {
  Registry registry(1);
  const auto cluster = registry.create<Cluster>(clusterScope("a.b"));
  cluster->shard(0)->set(Cluster::Gauge::CircuitBreakersDefaultCxOpen, 1);
  EXPECT_EQ(registry.value("cluster.a.b.circuit_breakers.default.cx_open").value_or(9), 1u);
  EXPECT_EQ(registry.value("cluster.a.b.upstream_cx_total").value_or(9), 0u);
  EXPECT(!registry.value("cluster.a.upstream_cx_total"));
  EXPECT(!registry.value("cluster.a.b.upstream_cx_length_ms"));
  EXPECT(!registry.value("upstream_cx_total"));
  EXPECT(!registry.value(""));
}

TEST("a scope that was just found is found again, whichever of it comes or goes meanwhile") {
  Registry registry(1);
  auto cluster = registry.create<Cluster>(clusterScope("a"));
  const auto other = registry.create<Cluster>(clusterScope("b"));
  EXPECT(registry.addTo("cluster.a.upstream_rq_total", 1));
  // Another layout of the same prefix.
  auto eds = registry.create<Eds>(clusterScope("a"));
  EXPECT(registry.addTo("cluster.a.update_rejected", 2));
  EXPECT(registry.addTo("cluster.a.upstream_rq_total", 1));
  EXPECT(registry.addTo("cluster.b.upstream_rq_total", 5));
  EXPECT(registry.addTo("cluster.a.upstream_rq_total", 1));
  EXPECT_EQ(registry.value("cluster.a.upstream_rq_total").value_or(99), 3u);
  EXPECT_EQ(registry.value("cluster.b.upstream_rq_total").value_or(99), 5u);
  // One takes its place, and goes on.
  cluster = registry.renew<Cluster>(clusterScope("a"));
  EXPECT(registry.addTo("cluster.a.upstream_rq_total", 1));
  EXPECT_EQ(registry.value("cluster.a.upstream_rq_total").value_or(99), 4u);
  // The first of the two goes, the second stays.
  cluster = nullptr;
  registry.sweep();
  EXPECT(!registry.addTo("cluster.a.upstream_rq_total", 1));
  EXPECT(registry.addTo("cluster.a.update_rejected", 1));
  EXPECT_EQ(registry.value("cluster.a.update_rejected").value_or(99), 3u);
  eds = nullptr;
  registry.sweep();
  EXPECT(!registry.addTo("cluster.a.update_rejected", 1));
  EXPECT(registry.addTo("cluster.b.upstream_rq_total", 1));
}

TEST("a count by status has a value once it was counted") {
  Registry registry(1);
  const auto cluster = registry.create<Cluster>(clusterScope("a"));
  EXPECT(!registry.value("cluster.a.upstream_rq_200"));
  cluster->shard(1)->countResponse(CodeVariant::All, 200);
  cluster->shard(1)->countResponse(CodeVariant::External, 200);
  EXPECT_EQ(registry.value("cluster.a.upstream_rq_200").value_or(9), 1u);
  EXPECT_EQ(registry.value("cluster.a.external.upstream_rq_2xx").value_or(9), 1u);
  EXPECT(!registry.value("cluster.a.upstream_rq_404"));
}

TEST("a statistic is written by its number, each kind in its way") {
  Registry registry(1);
  const auto lds = registry.create<Lds>(plainScope("listener_manager.lds."));
  const auto id = [&](const char* name) {
    return *registry.idOf(std::string("listener_manager.lds.") + name);
  };
  registry.add(id("update_success"), 2);
  registry.set(id("version"), 77);
  registry.record(id("update_duration"), 5);
  registry.setText(id("version_text"), "v7");
  registry.flushHistograms();
  EXPECT_EQ(registry.value("listener_manager.lds.update_success").value_or(9), 2u);
  EXPECT_EQ(registry.value("listener_manager.lds.version").value_or(9), 77u);
  EXPECT_EQ(lds->total(0).count(), 1u);
  EXPECT_EQ(lds->text(0), "v7");
  EXPECT(registry.kindOf(id("version_text")) == Kind::Text);
  EXPECT_EQ(id("version"), id("version"));
  EXPECT(!registry.idOf("listener_manager.lds.nonsense"));
}

TEST("a number ends with its scope: what is written then is lost, and it is nobody else's") {
  Registry registry(1);
  auto cluster = registry.create<Cluster>(clusterScope("a"));
  const Registry::StatId id = *registry.idOf("cluster.a.update_attempt");
  EXPECT(registry.add(id, 1));
  cluster.reset();
  EXPECT(!registry.add(id, 1));
  EXPECT(!registry.idOf("cluster.a.update_attempt"));
  EXPECT(!registry.hasScopeOf("cluster.a.update_attempt"));
  // Its place is another's from here on.
  const auto other = registry.create<Cluster>(clusterScope("b"));
  const Registry::StatId other_id = *registry.idOf("cluster.b.version");
  EXPECT(other_id != id);
  EXPECT(!registry.isAlive(id));
  EXPECT(!registry.add(id, 1));
  EXPECT(registry.isGiven(id));
  EXPECT(registry.isAlive(other_id));
  cluster = registry.create<Cluster>(clusterScope("a"));
  EXPECT_EQ(registry.value("cluster.a.update_attempt").value_or(9), 0u);
  EXPECT(registry.add(*registry.idOf("cluster.a.update_attempt"), 1));
  EXPECT_EQ(registry.value("cluster.a.update_attempt").value_or(9), 1u);
  EXPECT(registry.hasScopeOf("cluster.a.nonsense"));
}

TEST("numbers that were never given are known as such") {
  Registry registry(1);
  EXPECT(!registry.isGiven(0));
  const auto cluster = registry.create<Cluster>(clusterScope("a"));
  const Registry::StatId id = *registry.idOf("cluster.a.update_attempt");
  EXPECT(registry.isGiven(id));
  EXPECT(!registry.isGiven(id + 1));
  EXPECT(!registry.isGiven(id + (Registry::StatId{1} << 32)));
}

TEST("scopes that come and go, used on two threads, leave nothing behind") {
  Registry registry(1);
  registry.setRejection([](std::string_view name) { return name.ends_with("x"); });
  const auto round = [&](int number) {
    std::vector<std::shared_ptr<Block<Cluster>>> clusters;
    for (int i = 0; i < 50; ++i) {
      const std::string name = "service-" + std::to_string(number * 50 + i);
      clusters.push_back(registry.create<Cluster>(clusterScope(name)));
      registry.add(*registry.idOf("cluster." + name + ".update_attempt"), 1);
    }
    std::thread([clusters = std::move(clusters)] {
      for (const auto& cluster : clusters) {
        cluster->shard(1)->add(Cluster::Counter::UpstreamRqRetry);
        cluster->shard(1)->countResponse(CodeVariant::All, 200);
        cluster->shard(1)->record(Cluster::Histogram::UpstreamRqTime, 12);
      }
    }).join();
    registry.flushHistograms();
    EXPECT(registry.blocks().empty());
  };
  // Of all arenas; under a sanitizer both are 0.
  const auto inUse = [] { return ::mallinfo2().uordblks; };
  for (int i = 0; i < 10; ++i) round(i);
  const size_t before = inUse();
  for (int i = 10; i < 200; ++i) round(i);
  const size_t after = inUse();
  // 9,500 scopes take 20 MB; what other tests left may move by a little.
  EXPECT(after < before + 512 * 1024);
}

TEST("the first bucket rule that matches gives the bounds") {
  Registry registry(1);
  EXPECT_EQ(registry.bucketBounds("x").size(), std::size(kBucketBounds));
  registry.setBucketRules({{[](std::string_view name) { return name.ends_with("time"); }, {1, 2}},
                           {[](std::string_view name) { return name.ends_with("me"); }, {3}}});
  EXPECT_EQ(registry.bucketBounds("a.time").size(), 2u);
  EXPECT_EQ(registry.bucketBounds("a.name")[0], 3.0);
  EXPECT_EQ(registry.bucketBounds("x").size(), std::size(kBucketBounds));
}

TEST("of thousands of scopes that cannot fit few are looked at") {
  Registry registry(2);
  std::vector<std::shared_ptr<Block<Cluster>>> held;
  for (int i = 0; i < 1000; ++i) {
    held.push_back(registry.create<Cluster>(clusterScope("be" + std::to_string(i))));
  }
  held.push_back(registry.create<Cluster>(clusterScope("fe")));
  // A byte behind which there is none.
  held.push_back(registry.create<Cluster>(clusterScope("\xff")));
  int asked = 0;
  const auto namesOf = [&](std::string_view wanted) {
    std::string names;
    asked = 0;
    const auto may_begin = [&](std::string_view beginning) {
      ++asked;
      return beginning.starts_with(wanted) || wanted.starts_with(beginning);
    };
    for (const auto& block : registry.blocks(may_begin)) names += block->scope().prefix + " ";
    return names;
  };
  EXPECT_EQ(namesOf("cluster.fe."), "cluster.fe. ");
  EXPECT(asked < 30);
  EXPECT_EQ(namesOf("cluster.be77"),
            "cluster.be77. cluster.be770. cluster.be771. cluster.be772. cluster.be773. "
            "cluster.be774. cluster.be775. cluster.be776. cluster.be777. cluster.be778. "
            "cluster.be779. ");
  EXPECT_EQ(namesOf("server."), "");
  EXPECT(asked < 10);
  EXPECT_EQ(registry.blocks([](std::string_view) { return false; }).size(), 0u);
  EXPECT_EQ(registry.blocks().size(), 1002u);
}

}  // namespace fairlead::stats
