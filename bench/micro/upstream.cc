// What many hosts cost: a connection of the TCP relay, and an assignment that says what is known.
#include <memory>
#include <string>
#include <vector>

#include "base/check.h"
#include "bench/micro/micro.h"
#include "upstream/worker_clusters.h"
#include "worker/data_plane.h"

namespace fairlead::upstream {

namespace {

constexpr size_t kHosts = 10'000;

plan::Assignment manyHosts() {
  plan::Assignment assignment;
  assignment.cluster_name = "origin";
  assignment.overprovisioning_factor_pct = 140;
  for (size_t i = 0; i < kHosts; ++i) {
    plan::Host& host = assignment.hosts.emplace_back();
    host.address.emplace();
    host.address->ip = {10, 0, static_cast<char>(i >> 8), static_cast<char>(i)};
    host.address->port = 80;
    host.weight = 1;
  }
  return assignment;
}

plan::Cluster oneCluster() {
  plan::Cluster cluster;
  cluster.name = "origin";
  cluster.panic_threshold_pct = 50;
  cluster.limits.assign(2, {1024, 1024, 1024, 3, false});
  return cluster;
}

}  // namespace

MICRO("upstream: choose one of 10,000 hosts for a connection") {
  net::Loop loop;
  net::OutBatch batch;
  net::SplicePipes pipes;
  http::RequestHead request;
  http::ResponseHead response;
  const http::CodecScratch scratch{batch, request, response};
  Random random;
  UpstreamContext context{loop, scratch, pipes, random, 0};
  const auto cluster = std::make_shared<Cluster>(
      oneCluster(), std::make_shared<stats::Block<stats::Cluster>>(stats::clusterScope("a"), 2));
  std::vector<std::shared_ptr<Host>> hosts;
  for (const plan::Host& host : manyHosts().hosts) {
    hosts.push_back(std::make_shared<Host>(std::make_shared<const plan::Host>(host), 1));
  }
  WorkerCluster worker_cluster(cluster, context);
  worker_cluster.setHosts(std::make_shared<const HostSet>(std::move(hosts), nullptr, 50, 140));
  for (auto _ : state) micro::keep(worker_cluster.chooseHost().get());
}

MICRO("upstream: apply 10,000 hosts that are known") {
  worker::DataPlane plane({.workers = 2});
  plan::Update update;
  update.clusters.push_back(oneCluster());
  update.assignments.push_back(manyHosts());
  FL_CHECK(plane.apply(update).empty());
  plane.start();
  update.clusters.clear();
  for (auto _ : state) micro::keep(plane.apply(update).size());
}

}  // namespace fairlead::upstream
