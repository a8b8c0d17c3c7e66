// What counting costs a request, and what reading costs the control thread when there are 10,000
// clusters: its pieces must stay far below the 20 ms that a turn of its loop may take.
#include <memory>
#include <string>
#include <vector>

#include "bench/micro/micro.h"
#include "stats/query.h"

namespace fairlead::stats {

namespace {

constexpr size_t kClusters = 10'000;

// Every cluster has answered on two workers; made once, as it takes a while.
struct Fleet {
  Registry registry{2};
  std::vector<std::shared_ptr<Block<Cluster>>> clusters;

  Fleet() {
    for (size_t i = 0; i < kClusters; ++i) {
      clusters.push_back(registry.create<Cluster>(clusterScope("service-" + std::to_string(i))));
    }
    serve();
    registry.flushHistograms();
  }

  // A few requests of every cluster.
  void serve() {
    for (size_t i = 0; i < kClusters; ++i) {
      for (const size_t worker : {1, 2}) {
        Shard<Cluster>& shard = *clusters[i]->shard(worker);
        shard.add(Cluster::Counter::UpstreamRqTotal);
        shard.countResponse(CodeVariant::All, 200);
        shard.countResponse(CodeVariant::External, 200);
        shard.record(Cluster::Histogram::UpstreamRqTime, i % 97);
        shard.record(Cluster::Histogram::ExternalUpstreamRqTime, i % 97);
        shard.record(Cluster::Histogram::UpstreamCxConnectMs, i % 7);
      }
    }
  }
};

Fleet& fleet() {
  static Fleet fleet;
  return fleet;
}

using Open = std::unique_ptr<Page> (*)(const Registry&, Query);

// One iteration is one piece.
void readPieces(micro::State& state, Open open, const Query& query) {
  const Registry& registry = fleet().registry;
  std::unique_ptr<Page> page = open(registry, query);
  std::string piece;
  for (auto _ : state) {
    piece.clear();
    if (!page->next(&piece)) page = open(registry, query);
    micro::keep(piece.data());
  }
}

// One iteration is a page.
void readAll(micro::State& state, Open open, const Query& query) {
  std::string piece;
  for (auto _ : state) {
    const std::unique_ptr<Page> page = open(fleet().registry, query);
    do {
      piece.clear();
    } while (page->next(&piece));
    micro::keep(piece.data());
  }
}

}  // namespace

MICRO("stats: add to a counter") {
  Block<Cluster> block(clusterScope("a"), 2);
  Shard<Cluster>& shard = *block.shard(1);
  for (auto _ : state) {
    shard.add(Cluster::Counter::UpstreamRqTotal);
    micro::keep(shard);
  }
}

MICRO("stats: count an answer by status, the third seen") {
  Block<Cluster> block(clusterScope("a"), 2);
  Shard<Cluster>& shard = *block.shard(1);
  shard.countResponse(CodeVariant::All, 404);
  shard.countResponse(CodeVariant::All, 503);
  for (auto _ : state) {
    shard.countResponse(CodeVariant::All, 200);
    micro::keep(shard);
  }
}

MICRO("stats: record a time, 0 to 511 ms") {
  Block<Cluster> block(clusterScope("a"), 2);
  Shard<Cluster>& shard = *block.shard(1);
  uint64_t value = 0;
  for (auto _ : state) {
    value = (value * 5 + 3) & 511;
    shard.record(Cluster::Histogram::UpstreamRqTime, value);
    micro::keep(shard);
  }
}

MICRO("stats: record bytes, up to 2^40") {
  Block<Cluster> block(clusterScope("a"), 2);
  Shard<Cluster>& shard = *block.shard(1);
  uint64_t value = 1;
  for (auto _ : state) {
    value = value * 6364136223846793005u + 1442695040888963407u;
    shard.record(Cluster::Histogram::UpstreamRqTime, value >> (24 + (value & 31)));
    micro::keep(shard);
  }
}

MICRO("stats: 10,000 clusters, a flush of histograms, all idle") {
  Registry& registry = fleet().registry;
  registry.flushHistograms();
  for (auto _ : state) registry.flushHistograms();
}

MICRO("stats: 10,000 clusters, requests to all and a flush") {
  for (auto _ : state) {
    fleet().serve();
    fleet().registry.flushHistograms();
  }
}

MICRO("stats: 10,000 clusters, a piece of text") { readPieces(state, openText, {}); }
MICRO("stats: 10,000 clusters, a piece of JSON") { readPieces(state, openJson, {}); }
MICRO("stats: 10,000 clusters, a piece of Prometheus") { readPieces(state, openPrometheus, {}); }
MICRO("stats: 10,000 clusters, a piece of metric families") {
  readPieces(state, openMetricFamilies, {});
}

MICRO("stats: 10,000 clusters, open a page of text") {
  for (auto _ : state) micro::keep(openText(fleet().registry, {}).get());
}

MICRO("stats: 10,000 clusters, open a page of Prometheus") {
  for (auto _ : state) micro::keep(openPrometheus(fleet().registry, {}).get());
}

MICRO("stats: 10,000 clusters, the whole page of Prometheus") {
  readAll(state, openPrometheus, {});
}
MICRO("stats: 10,000 clusters, all metric families") { readAll(state, openMetricFamilies, {}); }
MICRO("stats: 10,000 clusters, all metric families with native histograms") {
  Query query;
  query.native_buckets = 20;
  readAll(state, openMetricFamilies, query);
}

MICRO("stats: 10,000 clusters, all text that a filter leaves (one in 1.2 million)") {
  Query query;
  query.filter = [](std::string_view name) {
    return name == "cluster.service-77.upstream_rq_total";
  };
  for (auto _ : state) {
    const std::unique_ptr<Page> page = openText(fleet().registry, query);
    std::string text;
    while (page->next(&text)) {
    }
    micro::keep(text.data());
  }
}

}  // namespace fairlead::stats
