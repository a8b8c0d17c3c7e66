#include "stats/block.h"

#include <memory>
#include <string>
#include <vector>

#include "stats/scopes.h"
#include "test/native/test.h"

namespace fairlead::stats {

namespace {

using Counter = Cluster::Counter;
using Gauge = Cluster::Gauge;
using Histogram = Cluster::Histogram;

// A cluster's block for the control thread and two workers.
struct Fixture {
  Block<Cluster> block{clusterScope("backend"), 3};
  std::unique_ptr<BinCounts> scratch = std::make_unique<BinCounts>();

  Reading counter(Counter counter) { return block.counter(static_cast<size_t>(counter)); }
  Reading gauge(Gauge gauge) { return block.gauge(static_cast<size_t>(gauge)); }
  void flush() { block.flushHistograms(scratch.get()); }
  const Distribution& total(Histogram histogram) {
    return block.total(static_cast<size_t>(histogram));
  }
  const Distribution& interval(Histogram histogram) {
    return block.interval(static_cast<size_t>(histogram));
  }
  std::string codes() {
    std::string text;
    for (const BlockBase::Code& code : block.codes()) {
      code.name.appendTo(&text);
      text += "=" + std::to_string(code.value) + " ";
    }
    return text;
  }
};

}  // namespace

TEST("a counter is the sum over all threads, and used once anything was added") {
  Fixture of;
  EXPECT_EQ(of.counter(Counter::UpstreamRqTotal).value, 0u);
  EXPECT(!of.counter(Counter::UpstreamRqTotal).used);
  of.block.shard(1)->add(Counter::UpstreamRqTotal);
  of.block.shard(2)->add(Counter::UpstreamRqTotal, 4);
  EXPECT_EQ(of.counter(Counter::UpstreamRqTotal).value, 5u);
  EXPECT(of.counter(Counter::UpstreamRqTotal).used);
}

TEST("a shard keeps its address, and threads have different ones") {
  Fixture of;
  EXPECT_EQ(of.block.shard(1), of.block.shard(1));
  EXPECT(of.block.shard(1) != of.block.shard(2));
}

TEST("slots are made a group at a time when they are written, on lines of their own") {
  Fixture of;
  Shard<Cluster>& shard = *of.block.shard(1);
  const size_t groups = Cluster::kGroups.size();
  const auto made = [&] {
    size_t count = 0;
    for (size_t i = 0; i < groups; ++i) count += shard.view().group(i) != nullptr;
    return count;
  };
  EXPECT(groups > 4);
  EXPECT(!shard.isSet(Gauge::MembershipTotal));
  EXPECT_EQ(of.counter(Counter::UpstreamRqRetry).value, 0u);
  EXPECT_EQ(made(), 0u);
  shard.add(Counter::UpstreamRqTotal);
  shard.up(Gauge::UpstreamRqActive);
  EXPECT_EQ(made(), 1u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(shard.view().group(0)) % 64, 0u);
  shard.add(Counter::UpstreamRqRetry);
  shard.add(Counter::UpstreamRqRetrySuccess);
  EXPECT_EQ(made(), 2u);
  shard.set(Gauge::CircuitBreakersHighCxOpen, 1);
  EXPECT_EQ(made(), 3u);
  EXPECT_EQ(of.counter(Counter::UpstreamRqRetry).value, 1u);
  EXPECT_EQ(of.gauge(Gauge::CircuitBreakersHighCxOpen).value, 1u);
}

TEST("every counter and gauge has slots of its own") {
  Fixture of;
  Shard<Cluster>& shard = *of.block.shard(1);
  const size_t counters = Cluster::kCounters.size();
  for (size_t i = 0; i < counters; ++i) shard.addAt(i, i + 1);
  for (size_t i = 0; i < Cluster::kGauges.size(); ++i) shard.setAt(i, 1000 + i);
  for (size_t i = 0; i < counters; ++i) EXPECT_EQ(of.block.counter(i).value, i + 1);
  for (size_t i = 0; i < Cluster::kGauges.size(); ++i) {
    EXPECT_EQ(of.block.gauge(i).value, 1000 + i);
    shard.down(static_cast<Gauge>(i), 1);
    EXPECT_EQ(of.block.gauge(i).value, 999 + i);
  }
}

TEST("nothing added on purpose marks a counter used") {
  Fixture of;
  of.block.addOwn(static_cast<size_t>(Counter::BindErrors), 0);
  EXPECT_EQ(of.counter(Counter::BindErrors).value, 0u);
  EXPECT(of.counter(Counter::BindErrors).used);
}

TEST("a gauge may go up on one thread and down on another") {
  Fixture of;
  of.block.shard(1)->up(Gauge::UpstreamCxActive, 3);
  of.block.shard(2)->down(Gauge::UpstreamCxActive, 2);
  EXPECT_EQ(of.gauge(Gauge::UpstreamCxActive).value, 1u);
}

TEST("a gauge that is set keeps the latest value, and 0 counts as set") {
  Fixture of;
  Shard<Cluster>& own = *of.block.shard(0);
  EXPECT(!own.isSet(Gauge::MembershipTotal));
  own.set(Gauge::MembershipTotal, 0);
  EXPECT(own.isSet(Gauge::MembershipTotal));
  EXPECT_EQ(of.gauge(Gauge::MembershipTotal).value, 0u);
  EXPECT(of.gauge(Gauge::MembershipTotal).used);
  own.set(Gauge::MembershipTotal, 7);
  own.set(Gauge::MembershipTotal, 2);
  EXPECT_EQ(of.gauge(Gauge::MembershipTotal).value, 2u);
  own.set(Gauge::MembershipTotal, 0);
  EXPECT_EQ(of.gauge(Gauge::MembershipTotal).value, 0u);
  own.set(Gauge::MembershipTotal, UINT64_MAX);
  EXPECT_EQ(of.gauge(Gauge::MembershipTotal).value, UINT64_MAX);
}

TEST("a gauge that goes below 0 wraps, as the remaining pools of an unlimited cluster do") {
  Fixture of;
  of.block.shard(0)->set(Gauge::CircuitBreakersDefaultRemainingCxPools, UINT64_MAX);
  of.block.shard(1)->down(Gauge::CircuitBreakersDefaultRemainingCxPools, 2);
  EXPECT_EQ(of.gauge(Gauge::CircuitBreakersDefaultRemainingCxPools).value, 18446744073709551613u);
}

TEST("reading all at once says what reading one by one says") {
  Fixture of;
  of.block.shard(1)->add(Counter::UpstreamCxTotal, 2);
  of.block.shard(0)->set(Gauge::MaxHostWeight, 0);
  of.block.shard(2)->up(Gauge::UpstreamRqActive, 9);
  std::vector<Reading> readings;
  of.block.readCounters(&readings);
  for (size_t i = 0; i < readings.size(); ++i) {
    EXPECT_EQ(readings[i].value, of.block.counter(i).value);
    EXPECT_EQ(readings[i].used, of.block.counter(i).used);
  }
  of.block.readGauges(&readings);
  for (size_t i = 0; i < readings.size(); ++i) {
    EXPECT_EQ(readings[i].value, of.block.gauge(i).value);
    EXPECT_EQ(readings[i].used, of.block.gauge(i).used);
  }
}

TEST("answers are counted by status, by class and as completed, under each variant by itself") {
  Fixture of;
  of.block.shard(1)->countResponse(CodeVariant::All, 200);
  of.block.shard(2)->countResponse(CodeVariant::All, 204);
  of.block.shard(2)->countResponse(CodeVariant::All, 503);
  of.block.shard(1)->countResponse(CodeVariant::External, 200);
  of.block.shard(2)->countResponse(CodeVariant::External, 503);
  of.block.shard(2)->countResponse(CodeVariant::Retry, 503);
  // A cluster's plain upstream_rq_completed is a counter of its own.
  EXPECT_EQ(of.codes(),
            "external.upstream_rq_200=1 external.upstream_rq_2xx=1 external.upstream_rq_503=1 "
            "external.upstream_rq_5xx=1 external.upstream_rq_completed=2 "
            "retry.upstream_rq_503=1 retry.upstream_rq_5xx=1 retry.upstream_rq_completed=1 "
            "upstream_rq_200=1 upstream_rq_204=1 upstream_rq_2xx=2 upstream_rq_503=1 "
            "upstream_rq_5xx=1 ");
}

TEST("more statuses than a chunk holds all have their slot; one outside 100 to 599 is unknown") {
  Fixture of;
  for (uint16_t status = 200; status < 220; ++status) {
    of.block.shard(1)->countResponse(CodeVariant::Internal, status);
  }
  of.block.shard(1)->countResponse(CodeVariant::Internal, 999);
  of.block.shard(1)->countResponse(CodeVariant::Internal, 0);
  const std::vector<BlockBase::Code> codes = of.block.codes();
  EXPECT_EQ(codes.size(), 23u);
  EXPECT(codes[20].name == CodeName::family(CodeVariant::Internal, 2));
  EXPECT_EQ(codes[20].value, 20u);
  EXPECT(codes[21].name == CodeName::completed(CodeVariant::Internal));
  EXPECT_EQ(codes[21].value, 22u);
  EXPECT(codes[22].name == CodeName::unknown(CodeVariant::Internal));
  EXPECT_EQ(codes[22].value, 2u);
}

TEST("what is counted as completed alone has no status") {
  Fixture of;
  of.block.shard(1)->countResponse(CodeVariant::Retry, CodeCounts::kCompletedOnly);
  EXPECT_EQ(of.codes(), "retry.upstream_rq_completed=1 ");
  of.block.shard(2)->countResponse(CodeVariant::Retry, 503);
  of.block.shard(2)->countResponse(CodeVariant::Retry, CodeCounts::kCompletedOnly);
  EXPECT_EQ(of.codes(),
            "retry.upstream_rq_503=1 retry.upstream_rq_5xx=1 retry.upstream_rq_completed=3 ");
}

TEST("names of code counters sort as their texts do") {
  std::vector<std::string> names;
  std::vector<CodeName> codes;
  for (int variant = 0; variant < kCodeVariants; ++variant) {
    const auto of = static_cast<CodeVariant>(variant);
    for (int digit = 1; digit <= 5; ++digit) {
      codes.push_back(CodeName::status(of, digit * 100));
      codes.push_back(CodeName::status(of, digit * 100 + 99));
      codes.push_back(CodeName::family(of, digit));
    }
    codes.push_back(CodeName::completed(of));
    codes.push_back(CodeName::unknown(of));
  }
  for (const CodeName code : codes) code.appendTo(&names.emplace_back());
  for (size_t i = 1; i < codes.size(); ++i) {
    EXPECT(codes[i - 1] < codes[i]);
    EXPECT(names[i - 1] < names[i]);
  }
}

TEST("a flush makes what was recorded since the previous one the interval") {
  Fixture of;
  of.block.shard(1)->record(Histogram::UpstreamRqTime, 4);
  of.block.shard(2)->record(Histogram::UpstreamRqTime, 40);
  EXPECT(of.total(Histogram::UpstreamRqTime).empty());
  EXPECT(of.block.isRecorded(static_cast<size_t>(Histogram::UpstreamRqTime)));

  of.flush();
  EXPECT_EQ(of.total(Histogram::UpstreamRqTime).count(), 2u);
  EXPECT_EQ(of.interval(Histogram::UpstreamRqTime).count(), 2u);

  of.block.shard(1)->record(Histogram::UpstreamRqTime, 4);
  of.flush();
  EXPECT_EQ(of.total(Histogram::UpstreamRqTime).count(), 3u);
  EXPECT_EQ(of.interval(Histogram::UpstreamRqTime).count(), 1u);
  EXPECT_EQ(of.interval(Histogram::UpstreamRqTime).quantile(0.5), 4.05);

  of.flush();
  EXPECT_EQ(of.total(Histogram::UpstreamRqTime).count(), 3u);
  EXPECT(of.interval(Histogram::UpstreamRqTime).empty());
}

TEST("counters and counts by status read 0 after a reset, stay used, and go on from there") {
  Fixture of;
  of.block.shard(1)->add(Counter::UpstreamRqTotal, 5);
  of.block.shard(1)->countResponse(CodeVariant::All, 200);
  of.block.shard(1)->up(Gauge::UpstreamRqActive);
  of.block.resetCounters();
  EXPECT_EQ(of.counter(Counter::UpstreamRqTotal).value, 0u);
  EXPECT(of.counter(Counter::UpstreamRqTotal).used);
  EXPECT_EQ(of.codes(), "upstream_rq_200=0 upstream_rq_2xx=0 ");
  EXPECT_EQ(of.gauge(Gauge::UpstreamRqActive).value, 1u);

  of.block.shard(2)->add(Counter::UpstreamRqTotal);
  of.block.shard(2)->countResponse(CodeVariant::All, 200);
  of.block.shard(2)->countResponse(CodeVariant::All, 100);
  EXPECT_EQ(of.counter(Counter::UpstreamRqTotal).value, 1u);
  EXPECT_EQ(of.codes(), "upstream_rq_100=1 upstream_rq_1xx=1 upstream_rq_200=1 upstream_rq_2xx=1 ");
}

}  // namespace fairlead::stats
