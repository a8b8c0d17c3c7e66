#include "stats/registry.h"

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

TEST("a number outlives its scope: what is written then is lost, until the scope is back") {
  Registry registry(1);
  auto cluster = registry.create<Cluster>(clusterScope("a"));
  const Registry::StatId id = *registry.idOf("cluster.a.update_attempt");
  cluster.reset();
  registry.add(id, 1);
  EXPECT(!registry.idOf("cluster.a.update_attempt"));
  cluster = registry.create<Cluster>(clusterScope("a"));
  EXPECT_EQ(*registry.idOf("cluster.a.update_attempt"), id);
  registry.add(id, 1);
  EXPECT_EQ(registry.value("cluster.a.update_attempt").value_or(9), 1u);
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

}  // namespace fairlead::stats
