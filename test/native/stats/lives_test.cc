// Scopes that begin anew while one of their name is held.
#include <memory>
#include <string>
#include <string_view>

#include "stats/query.h"
#include "stats/registry.h"
#include "stats/sink_flush.h"
#include "test/native/stats/pages.h"
#include "test/native/test.h"

namespace fairlead::stats {

namespace {

using Count = Cluster::Counter;
using Level = Cluster::Gauge;

uint64_t valueOf(const Registry& registry, std::string_view name) {
  return registry.value("cluster.a." + std::string(name)).value_or(UINT64_MAX);
}

constexpr uint64_t kNone = UINT64_MAX;

void answer(Block<Cluster>& cluster, uint16_t status) {
  Shard<Cluster>& shard = *cluster.shard(1);
  shard.add(Count::UpstreamRqTotal);
  shard.add(Count::UpstreamCxHttp1Total);
  shard.countResponse(CodeVariant::All, status);
  shard.record(Cluster::Histogram::UpstreamRqTime, 7);
  shard.record(Cluster::Histogram::UpstreamCxLengthMs, 7);
}

bool isShown(const Registry& registry, std::string_view name) {
  return whole(openText, registry).find("cluster.a." + std::string(name) + ": ") !=
         std::string::npos;
}

}  // namespace

TEST("a scope that is renewed goes on but for what is made as it is counted") {
  Registry registry(1);
  auto old_one = registry.create<Cluster>(clusterScope("a"));
  answer(*old_one, 200);
  const auto next = registry.renew<Cluster>(clusterScope("a"));
  EXPECT_EQ(registry.blocks().size(), 1u);
  // It is held still: both have all of it.
  EXPECT_EQ(valueOf(registry, "upstream_rq_200"), 1u);
  EXPECT_EQ(valueOf(registry, "upstream_rq_total"), 1u);
  EXPECT(isShown(registry, "http1.response_flood"));
  old_one.reset();
  registry.sweep();
  EXPECT_EQ(valueOf(registry, "upstream_rq_200"), kNone);
  EXPECT_EQ(valueOf(registry, "upstream_rq_total"), 1u);
  EXPECT(!isShown(registry, "http1.response_flood"));
  EXPECT(!isShown(registry, "upstream_rq_time"));
  EXPECT(isShown(registry, "upstream_cx_length_ms"));
  answer(*next, 200);
  EXPECT_EQ(valueOf(registry, "upstream_rq_200"), 1u);
  EXPECT_EQ(valueOf(registry, "upstream_rq_total"), 2u);
  EXPECT(isShown(registry, "http1.response_flood"));
  registry.flushHistograms();
  const auto block = registry.blocks().front();
  constexpr auto kTime = static_cast<size_t>(Cluster::Histogram::UpstreamRqTime);
  constexpr auto kLength = static_cast<size_t>(Cluster::Histogram::UpstreamCxLengthMs);
  EXPECT_EQ(block->total(kTime).count(), 1u);
  EXPECT_EQ(block->total(kLength).count(), 2u);
}

TEST("answers that the control thread has had go on where they are counted anew, as any others") {
  Registry registry(1);
  auto old_one = registry.create<Cluster>(clusterScope("a"));
  old_one->countOwnResponse(CodeVariant::All, 200);
  old_one->countOwnResponse(CodeVariant::All, 404);
  const auto next = registry.renew<Cluster>(clusterScope("a"));
  // It is in use until the next one has its hosts.
  old_one->countOwnResponse(CodeVariant::All, 404);
  next->countOwnResponse(CodeVariant::All, 200);
  EXPECT_EQ(valueOf(registry, "upstream_rq_200"), 2u);
  EXPECT_EQ(valueOf(registry, "upstream_rq_404"), 2u);
  old_one.reset();
  registry.sweep();
  EXPECT_EQ(valueOf(registry, "upstream_rq_200"), 2u);
  EXPECT_EQ(valueOf(registry, "upstream_rq_404"), kNone);
}

TEST("what both have counted goes on when the older one ends") {
  Registry registry(1);
  auto old_one = registry.create<Cluster>(clusterScope("a"));
  answer(*old_one, 200);
  answer(*old_one, 404);
  const auto next = registry.renew<Cluster>(clusterScope("a"));
  answer(*next, 200);
  answer(*old_one, 200);
  EXPECT_EQ(valueOf(registry, "upstream_rq_200"), 3u);
  old_one.reset();
  registry.sweep();
  EXPECT_EQ(valueOf(registry, "upstream_rq_200"), 3u);
  EXPECT_EQ(valueOf(registry, "upstream_rq_404"), kNone);
  EXPECT(isShown(registry, "http1.response_flood"));
  registry.flushHistograms();
  constexpr auto kTime = static_cast<size_t>(Cluster::Histogram::UpstreamRqTime);
  EXPECT_EQ(registry.blocks().front()->total(kTime).count(), 4u);
}

TEST("a scope that ends before the one that it succeeded leaves that one as it was") {
  Registry registry(1);
  const auto old_one = registry.create<Cluster>(clusterScope("a"));
  answer(*old_one, 200);
  const auto id = registry.idOf("cluster.a.update_success");
  {
    const auto next = registry.renew<Cluster>(clusterScope("a"));
    EXPECT(registry.add(*id, 1));
    next->shard(1)->add(Count::UpstreamCxTotal);
    next->shard(1)->countResponse(CodeVariant::All, 503);
  }
  registry.sweep();
  EXPECT_EQ(registry.blocks().size(), 1u);
  EXPECT_EQ(valueOf(registry, "upstream_rq_200"), 1u);
  EXPECT_EQ(valueOf(registry, "upstream_rq_503"), kNone);
  EXPECT_EQ(valueOf(registry, "upstream_cx_total"), 1u);
  // Numbers of statistics are good for all of them.
  EXPECT(registry.add(*id, 1));
  EXPECT_EQ(valueOf(registry, "update_success"), 2u);
}

TEST("gauges go up in one scope and down in the next, and the control thread's are the same") {
  Registry registry(1);
  auto old_one = registry.create<Cluster>(clusterScope("a"));
  old_one->shard(1)->up(Level::UpstreamCxActive, 2);
  old_one->shard(0)->set(Level::MembershipTotal, 3);
  const auto next = registry.renew<Cluster>(clusterScope("a"));
  EXPECT(next->shard(0)->isSet(Level::MembershipTotal));
  next->shard(0)->set(Level::MembershipTotal, 1);
  next->shard(1)->up(Level::UpstreamCxActive);
  EXPECT_EQ(valueOf(registry, "membership_total"), 1u);
  EXPECT_EQ(valueOf(registry, "upstream_cx_active"), 3u);
  old_one->shard(1)->down(Level::UpstreamCxActive, 2);
  old_one.reset();
  registry.sweep();
  EXPECT_EQ(valueOf(registry, "membership_total"), 1u);
  EXPECT_EQ(valueOf(registry, "upstream_cx_active"), 1u);
}

TEST("counters that were reset stay so in the scope that goes on, and begin at 0 elsewhere") {
  Registry registry(1);
  auto old_one = registry.create<Cluster>(clusterScope("a"));
  for (int i = 0; i < 5; ++i) answer(*old_one, 200);
  registry.resetCounters();
  answer(*old_one, 200);
  const auto next = registry.renew<Cluster>(clusterScope("a"));
  EXPECT_EQ(valueOf(registry, "upstream_rq_200"), 1u);
  EXPECT_EQ(valueOf(registry, "upstream_rq_total"), 1u);
  old_one.reset();
  registry.sweep();
  EXPECT_EQ(valueOf(registry, "upstream_rq_total"), 1u);
  answer(*next, 200);
  EXPECT_EQ(valueOf(registry, "upstream_rq_200"), 1u);
  EXPECT_EQ(valueOf(registry, "upstream_rq_total"), 2u);
}

TEST("a third scope in a row begins with nothing of the first that the second did not count") {
  Registry registry(1);
  auto first = registry.create<Cluster>(clusterScope("a"));
  answer(*first, 200);
  auto second = registry.renew<Cluster>(clusterScope("a"));
  answer(*second, 200);
  first.reset();
  registry.sweep();
  EXPECT_EQ(valueOf(registry, "upstream_rq_200"), 2u);
  const auto third = registry.renew<Cluster>(clusterScope("a"));
  second.reset();
  registry.sweep();
  EXPECT_EQ(valueOf(registry, "upstream_rq_200"), kNone);
  EXPECT_EQ(valueOf(registry, "upstream_rq_total"), 2u);
}

TEST("a scope that is shown late is shown again once it was written to anew") {
  Registry registry(1);
  const Scope scope = innerScope(clusterScope("a"), "http2.");
  auto old_one = registry.create<Http2Codec>(scope);
  old_one->shard(1)->add(Http2Codec::Counter::RxReset, 4);
  const auto next = registry.renew<Http2Codec>(scope);
  EXPECT(isShown(registry, "http2.rx_reset"));
  old_one.reset();
  registry.sweep();
  EXPECT(!isShown(registry, "http2.rx_reset"));
  next->shard(1)->add(Http2Codec::Counter::RxReset);
  EXPECT_EQ(valueOf(registry, "http2.rx_reset"), 1u);
}

TEST("sinks hear of the last that was counted under a name that ends, and no number twice") {
  Registry registry(1);
  registry.keepEnded();
  auto old_one = registry.create<Cluster>(clusterScope("a"));
  answer(*old_one, 200);
  const auto deltaOf = [&](std::string_view wanted) {
    uint64_t sum = 0;
    for (const auto& block : registry.blocksToSend()) {
      std::vector<BlockBase::Latched> counters;
      block->latchCounters(&counters);
      for (size_t i = 0; i < counters.size(); ++i) {
        if (block->layout().counters[i].name == wanted) sum += counters[i].delta;
      }
      for (const auto& code : block->latchCodes()) {
        std::string name;
        code.name.appendTo(&name);
        if (name == wanted) sum += code.delta;
      }
    }
    return sum;
  };
  EXPECT_EQ(deltaOf("upstream_rq_200"), 1u);
  answer(*old_one, 200);
  answer(*old_one, 200);
  const auto next = registry.renew<Cluster>(clusterScope("a"));
  old_one.reset();
  registry.sweep();
  EXPECT_EQ(deltaOf("upstream_rq_200"), 2u);
  EXPECT_EQ(deltaOf("upstream_rq_200"), 0u);
  answer(*next, 200);
  EXPECT_EQ(deltaOf("upstream_rq_total"), 1u);
}

}  // namespace fairlead::stats
