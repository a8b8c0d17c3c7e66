// What pages of statistics are asked, and of whom.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "stats/query.h"
#include "stats/registry.h"

namespace fairlead::stats {

using Open = std::unique_ptr<Page> (*)(const Registry&, Query);

inline std::string whole(Open open, const Registry& registry, Query query = {}) {
  const std::unique_ptr<Page> page = open(registry, std::move(query));
  std::string text;
  while (page->next(&text)) {
  }
  return text;
}

inline Query matching(std::string part) {
  Query query;
  query.filter = [part = std::move(part)](std::string_view name) {
    return name.find(part) != std::string_view::npos;
  };
  return query;
}

inline Query as(Query query, Buckets buckets) {
  query.buckets = buckets;
  return query;
}

// A cluster with two answers, another whose name begins alike, and a listener manager with LDS.
struct PagesFixture {
  Registry registry{1};
  std::shared_ptr<Block<Cluster>> be = registry.create<Cluster>(clusterScope("be"));
  std::shared_ptr<Block<Cluster>> be_x = registry.create<Cluster>(clusterScope("be.x"));
  std::shared_ptr<Block<Lds>> lds = registry.create<Lds>(plainScope("listener_manager.lds."));

  PagesFixture() {
    Shard<Cluster>& worker = *be->shard(1);
    worker.add(Cluster::Counter::UpstreamRqTotal, 2);
    worker.countResponse(CodeVariant::All, 200);
    worker.countResponse(CodeVariant::All, 503);
    worker.countResponse(CodeVariant::External, 200);
    worker.record(Cluster::Histogram::UpstreamRqTime, 0);
    worker.record(Cluster::Histogram::UpstreamRqTime, 41);
    registry.flushHistograms();
    worker.record(Cluster::Histogram::UpstreamRqTime, 105);
    registry.flushHistograms();
    registry.setText(*registry.idOf("listener_manager.lds.version_text"), "a<b>\"&'\n\\");
  }
};

}  // namespace fairlead::stats
