// What updates cost: of a worker's time, and of memory once they are over.
#include <malloc.h>
#include <time.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "test/native/route/fixtures.h"
#include "test/native/support/exchange.h"
#include "test/native/support/origin.h"
#include "test/native/support/proxy.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

// Clusters of that one's kind, with its hosts.
plan::Update manyLike(const plan::Update& plan, const std::string& prefix, int count) {
  plan::Update many;
  for (int i = 0; i < count; ++i) {
    many.clusters.push_back(plan.clusters[0]);
    many.assignments.push_back(plan.assignments[0]);
    many.clusters.back().name = many.assignments.back().cluster_name = prefix + std::to_string(i);
  }
  return many;
}

plan::RouteTable tableTo(const plan::Update& plan, const std::string& cluster) {
  plan::RouteTable table = plan.route_tables[0];
  table.virtual_hosts[0].routes[0].cluster->cluster = cluster;
  return table;
}

bool becomes(Proxy& proxy, Socket& client, const std::string& body) {
  return proxy.waitUntil([&] { return ask(client).ends_with(body); });
}

// The CPU time of each worker of this process so far, in microseconds.
std::vector<uint64_t> workersMicros() {
  std::vector<uint64_t> all;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::getline(std::ifstream(task.path() / "comm"), name);
    if (!name.starts_with("wrk:")) continue;
    // As pthread_getcpuclockid() makes it.
    constexpr clockid_t kOfThread = 6;
    const auto id = static_cast<clockid_t>(std::stoul(task.path().filename().string()));
    timespec used{};
    EXPECT_EQ(::clock_gettime(~id * 8 | kOfThread, &used), 0);
    all.push_back(static_cast<uint64_t>(used.tv_sec) * 1'000'000 + used.tv_nsec / 1000);
  }
  return all;
}

}  // namespace

TEST("A host that changes among 10,000 clusters costs a worker less than a millisecond of CPU") {
  Origin one(answering("one"));
  Origin two(answering("two"));
  const plan::Update plan = httpPlan({one.port()});
  Proxy proxy(plan, 2);
  worker::DataPlane& plane = proxy.dataPlane();
  plan::Update many = manyLike(plan, "c", 10'000);
  many.route_tables = {tableTo(plan, "c5000")};
  EXPECT(plane.apply(many).empty());
  Socket client = proxy.connect();
  EXPECT(becomes(proxy, client, "one"));
  Socket other = proxy.connect();
  EXPECT(becomes(proxy, other, "one"));

  const auto change = [&](const Origin& to) {
    plan::Update update;
    update.assignments = {hostsOn({to.port()})};
    update.assignments[0].cluster_name = "c5000";
    const std::weak_ptr<const void> hosts = plane.clusters().at("c5000")->hosts();
    EXPECT(plane.apply(update).empty());
    EXPECT(isGone(proxy, hosts));
  };
  // The first waits for all workers, as both clients may be one worker's: the other may still be at
  // the ten thousand.
  change(two);
  change(one);
  const std::vector<uint64_t> before = workersMicros();
  change(two);
  const std::vector<uint64_t> after = workersMicros();
  EXPECT_EQ(after.size(), 2u);
  for (size_t i = 0; i < after.size(); ++i) EXPECT(after[i] - before[i] < 1000);
  EXPECT(ask(client).ends_with("two"));
  EXPECT(ask(other).ends_with("two"));
}

TEST("A hundred rounds of clusters, hosts and routes that come and go leave nothing behind") {
  Origin origin(answering("hello"));
  const plan::Update plan = httpPlan({origin.port()});
  Proxy proxy(plan, 2);
  worker::DataPlane& plane = proxy.dataPlane();
  Socket client = proxy.connect();
  const auto round = [&] {
    plan::Update come = manyLike(plan, "passing", 50);
    come.route_tables = {tableTo(plan, "passing7")};
    EXPECT(plane.apply(come).empty());
    EXPECT(ask(client).starts_with("HTTP/1.1 200 "));
    plan::Update change;
    change.assignments = plan.assignments;
    change.assignments[0].hosts[0].weight = 2;
    EXPECT(plane.apply(change).empty());
    const std::weak_ptr<const void> last = plane.clusters().at("passing49");
    plan::Update go;
    go.assignments = plan.assignments;
    go.route_tables = plan.route_tables;
    for (const plan::Cluster& cluster : come.clusters) go.removed_clusters.push_back(cluster.name);
    EXPECT(plane.apply(go).empty());
    EXPECT(ask(client).starts_with("HTTP/1.1 200 "));
    EXPECT(isGone(proxy, last));
  };
  for (int i = 0; i < 20; ++i) round();
  const size_t before = ::mallinfo2().uordblks;
  for (int i = 0; i < 100; ++i) round();
  const size_t after = ::mallinfo2().uordblks;
  // A round has 400 KB at its height; a hundredth of that would be 400 KB by now.
  EXPECT(after < before + 64 * 1024);
}

}  // namespace fairlead::test
