// Lines as the real server (release 1.40) sends them for the same numbers.
#include "stats/sink_flush.h"

#include <thread>

#include "test/native/test.h"

namespace fairlead::stats {

namespace {

struct FlushFixture {
  Registry registry{1, true};
  std::shared_ptr<Block<Cluster>> be = registry.create<Cluster>(clusterScope("be"));
  std::vector<SinkFormat> formats{{SinkFormat::Kind::Statsd, "envoy"},
                                  {SinkFormat::Kind::DogStatsd, "dog"}};

  FlushFixture() { registry.setFixedLabels({{"fix", "v1"}}); }
  std::vector<std::string> flush() {
    SinkFlush flush(registry, formats, 1);
    std::vector<std::string> out(formats.size());
    while (flush.next(&out)) {
    }
    return out;
  }
  std::vector<std::string> samples() {
    std::vector<std::string> out(formats.size());
    while (takeSamples(&registry, formats, 2, &out)) {
    }
    return out;
  }
};

}  // namespace

TEST("counters are sent as what was added since, and go on being sent as 0; gauges as they are") {
  FlushFixture of;
  of.be->shard(1)->add(Cluster::Counter::UpstreamCxTotal, 2);
  of.be->shard(1)->up(Cluster::Gauge::UpstreamCxActive);
  const auto first = of.flush();
  EXPECT_EQ(first[0],
            "envoy.cluster.be.upstream_cx_total:2|c\n"
            "envoy.cluster.be.upstream_cx_active:1|g\n");
  EXPECT_EQ(first[1],
            "dog.cluster.upstream_cx_total:2|c|#fix:v1,envoy.cluster_name:be\n"
            "dog.cluster.upstream_cx_active:1|g|#fix:v1,envoy.cluster_name:be\n");
  of.be->shard(1)->down(Cluster::Gauge::UpstreamCxActive);
  of.registry.resetCounters();
  EXPECT_EQ(of.flush()[0],
            "envoy.cluster.be.upstream_cx_total:0|c\n"
            "envoy.cluster.be.upstream_cx_active:0|g\n");
  of.be->shard(1)->add(Cluster::Counter::UpstreamCxTotal, 3);
  EXPECT_EQ(of.flush()[0].substr(0, 39), "envoy.cluster.be.upstream_cx_total:3|c\n");
}

TEST("for Graphite tags are part of the name") {
  FlushFixture of;
  of.formats = {{SinkFormat::Kind::Graphite, "gr"}};
  of.be->shard(1)->add(Cluster::Counter::UpstreamCxTotal, 2);
  of.be->shard(1)->record(Cluster::Histogram::UpstreamRqTime, 7);
  EXPECT_EQ(of.flush()[0].substr(0, 62),
            "gr.cluster.upstream_cx_total;fix=v1;envoy.cluster_name=be:2|c\n");
  EXPECT_EQ(of.samples()[0], "gr.cluster.upstream_rq_time;fix=v1;envoy.cluster_name=be:7|ms\n");
}

TEST("answers are counted by status, with the code as a tag") {
  FlushFixture of;
  of.be->shard(1)->countResponse(CodeVariant::External, 200);
  const auto sent = of.flush();
  EXPECT_EQ(sent[0],
            "envoy.cluster.be.external.upstream_rq_200:1|c\n"
            "envoy.cluster.be.external.upstream_rq_2xx:1|c\n"
            "envoy.cluster.be.external.upstream_rq_completed:1|c\n");
  EXPECT_EQ(sent[1].substr(0, sent[1].find('\n')),
            "dog.cluster.external.upstream_rq:1|c|#envoy.response_code:200,fix:v1,"
            "envoy.cluster_name:be");
  of.be->shard(1)->countResponse(CodeVariant::External, 404);
  const CodeName shown = CodeName::family(CodeVariant::Retry, 5);
  of.be->showCodes({&shown, 1});
  const std::string again = of.flush()[0];
  EXPECT(again.find("upstream_rq_200:0|c\n") != std::string::npos);
  EXPECT(again.find("retry") == std::string::npos);
}

TEST("each value of a histogram is a line of its own, once") {
  FlushFixture of;
  for (const uint64_t value : {7, 0, 7}) {
    of.be->shard(1)->record(Cluster::Histogram::UpstreamRqTime, value);
  }
  EXPECT_EQ(of.samples()[0],
            "envoy.cluster.be.upstream_rq_time:7|ms\n"
            "envoy.cluster.be.upstream_rq_time:0|ms\n"
            "envoy.cluster.be.upstream_rq_time:7|ms\n");
  EXPECT_EQ(of.samples()[0], "");
}

TEST("values that find no room are counted") {
  FlushFixture of;
  for (size_t i = 0; i < SampleRing::kCapacity + 5; ++i) {
    of.be->shard(1)->record(Cluster::Histogram::UpstreamRqTime, 1);
  }
  EXPECT_EQ(of.registry.lostSamples(), 5u);
}

TEST("what a scope counted before its end is sent once, from whatever thread it came") {
  FlushFixture of;
  of.registry.keepEnded();
  of.be->shard(1)->add(Cluster::Counter::UpstreamCxTotal, 2);
  of.be->shard(1)->up(Cluster::Gauge::UpstreamCxActive);
  of.flush();
  std::thread([be = std::move(of.be)] {
    be->shard(1)->add(Cluster::Counter::UpstreamCxTotal, 3);
    be->shard(1)->add(Cluster::Counter::UpstreamRqRetry);
    be->shard(1)->countResponse(CodeVariant::External, 204);
  }).join();
  EXPECT(of.registry.blocks().empty());
  of.registry.flushHistograms();
  EXPECT_EQ(of.flush()[0],
            "envoy.cluster.be.upstream_cx_total:3|c\n"
            "envoy.cluster.be.upstream_rq_retry:1|c\n"
            "envoy.cluster.be.external.upstream_rq_204:1|c\n"
            "envoy.cluster.be.external.upstream_rq_2xx:1|c\n"
            "envoy.cluster.be.external.upstream_rq_completed:1|c\n");
  of.registry.flushHistograms();
  EXPECT_EQ(of.flush()[0], "");
}

TEST("a scope that follows one of its name begins at 0, and both are sent") {
  FlushFixture of;
  of.registry.keepEnded();
  of.be->shard(1)->add(Cluster::Counter::UpstreamCxTotal, 2);
  of.be->shard(1)->up(Cluster::Gauge::UpstreamCxActive);
  of.be.reset();
  of.be = of.registry.create<Cluster>(clusterScope("be"));
  EXPECT_EQ(of.registry.value("cluster.be.upstream_cx_total").value_or(9), 0u);
  of.be->shard(1)->add(Cluster::Counter::UpstreamCxTotal, 5);
  of.be->shard(1)->up(Cluster::Gauge::UpstreamCxActive, 7);
  EXPECT_EQ(of.flush()[0],
            "envoy.cluster.be.upstream_cx_total:2|c\n"
            "envoy.cluster.be.upstream_cx_total:5|c\n"
            "envoy.cluster.be.upstream_cx_active:7|g\n");
}

TEST("single values of a scope that has ended are sent, and so are its last summaries") {
  FlushFixture of;
  of.registry.keepEnded();
  SinkFormat metrics;
  metrics.kind = SinkFormat::Kind::Metrics;
  metrics.histograms = true;
  of.formats.push_back(metrics);
  of.be->shard(1)->record(Cluster::Histogram::UpstreamRqTime, 7);
  of.be.reset();
  of.registry.flushHistograms();
  EXPECT(of.flush()[2].find("cluster.be.upstream_rq_time") != std::string::npos);
  EXPECT_EQ(of.samples()[0], "envoy.cluster.be.upstream_rq_time:7|ms\n");
  EXPECT_EQ(of.flush()[2], "");
}

TEST("a scope's counts are not kept after its end where nothing is sent") {
  FlushFixture of;
  of.be->shard(1)->add(Cluster::Counter::UpstreamCxTotal, 2);
  of.be.reset();
  of.registry.flushHistograms();
  EXPECT_EQ(of.flush()[0], "");
}

TEST("nothing is kept for sinks where there are none") {
  Registry registry(1);
  const auto be = registry.create<Cluster>(clusterScope("be"));
  be->shard(1)->record(Cluster::Histogram::UpstreamRqTime, 1);
  size_t seen = 0;
  EXPECT(!registry.takeSamples(9, [&](const BlockBase&, size_t, uint64_t) { ++seen; }));
  EXPECT_EQ(seen, 0u);
}

TEST("what the configuration rejects is neither sent nor shown") {
  FlushFixture of;
  of.registry.setRejection([](std::string_view name) { return !name.ends_with("_total"); });
  of.be->shard(1)->add(Cluster::Counter::UpstreamCxTotal);
  of.be->shard(1)->up(Cluster::Gauge::UpstreamCxActive);
  of.be->shard(1)->countResponse(CodeVariant::External, 200);
  of.be->shard(1)->record(Cluster::Histogram::UpstreamRqTime, 1);
  EXPECT_EQ(of.flush()[0], "envoy.cluster.be.upstream_cx_total:1|c\n");
  EXPECT_EQ(of.samples()[0], "");
}

TEST("a metrics service gets families of one metric, its fields in the order of their numbers") {
  FlushFixture of;
  SinkFormat format;
  format.kind = SinkFormat::Kind::Metrics;
  format.labels = true;
  of.formats = {format};
  of.registry.setFixedLabels({});
  of.be->shard(1)->add(Cluster::Counter::UpstreamCxTotal, 2);
  const std::string label = std::string("\x0a\x18\x0a\x12") + "envoy.cluster_name\x12\x02" + "be";
  const std::string value = std::string("\x1a\x09\x09\0\0\0\0\0\0\0\x40", 11);
  const std::string metric = label + value + "\x30\x01";
  const std::string name = std::string("\x0a\x19") + "cluster.upstream_cx_total";
  const std::string family =
      name + std::string("\x18\0\x22", 3) + static_cast<char>(metric.size()) + metric;
  EXPECT_EQ(of.flush()[0], std::string("\x12") + static_cast<char>(family.size()) + family);
}

}  // namespace fairlead::stats
