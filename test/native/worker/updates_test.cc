// What changes while requests are under way: each goes on with what it began with, and the next has
// what is new.
#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "test/native/route/fixtures.h"
#include "test/native/support/exchange.h"
#include "test/native/support/origin.h"
#include "test/native/support/proxy.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

// Answers like answering(), on the first connection not before `go`.
Origin::Script answeringAfter(std::shared_future<void> go, std::string body) {
  return [go = std::move(go), script = answering(std::move(body))](Socket& socket, int number) {
    if (number == 0) go.wait();
    script(socket, number);
  };
}

// The plan's table; its routes go to that cluster, and answers say so in "x-table".
plan::RouteTable markedTableTo(const plan::Update& plan, const std::string& cluster) {
  plan::RouteTable table = plan.route_tables[0];
  plan::Route& route = table.virtual_hosts[0].routes[0];
  route.cluster->cluster = cluster;
  plan::HeaderAddition said;
  said.name = "x-table";
  said.value = literalFormat(cluster);
  route.mutations.emplace().response_add.push_back(std::move(said));
  return table;
}

plan::Update only(std::vector<plan::Assignment> assignments) {
  plan::Update update;
  update.assignments = std::move(assignments);
  return update;
}

// Another cluster of these hosts.
plan::Update clusterNamed(const std::string& name, const std::vector<uint16_t>& ports) {
  plan::Update update = httpPlan(ports);
  update.clusters[0].name = update.assignments[0].cluster_name = name;
  update.route_tables.clear();
  update.listeners.clear();
  return update;
}

// Whether answers become so: workers take up an update when they come to it.
bool becomes(Proxy& proxy, Socket& client, const std::function<bool(const std::string&)>& holds) {
  return proxy.waitUntil([&] { return holds(ask(client)); });
}

std::function<bool(const std::string&)> ending(std::string end) {
  return [end = std::move(end)](const std::string& answer) { return answer.ends_with(end); };
}

std::function<bool(const std::string&)> status(std::string code) {
  return
      [start = "HTTP/1.1 " + code](const std::string& answer) { return answer.starts_with(start); };
}

}  // namespace

TEST(
    "A new route table is for the next request; the one under way ends by the table it began "
    "with") {
  std::promise<void> go;
  Origin slow(answeringAfter(go.get_future().share(), "slow"));
  Origin other(answering("other"));
  plan::Update plan = httpPlan({slow.port()});
  plan.route_tables[0] = markedTableTo(plan, "origin");
  Proxy proxy(plan);
  EXPECT(proxy.dataPlane().apply(clusterNamed("other", {other.port()})).empty());
  Socket client = proxy.connect();
  Socket next = proxy.connect();
  client.write(kGet);
  EXPECT(proxy.waitFor("cluster.origin.upstream_rq_active", 1));

  plan::Update update;
  update.route_tables = {markedTableTo(plan, "other")};
  EXPECT(proxy.dataPlane().apply(update).empty());
  EXPECT(becomes(proxy, next, ending("other")));
  EXPECT(ask(next).find("x-table: other\r\n") != std::string::npos);
  go.set_value();
  const std::string late = client.readMessage();
  EXPECT(late.find("x-table: origin\r\n") != std::string::npos);
  EXPECT(late.ends_with("slow"));
  EXPECT(ask(client).ends_with("other"));
}

TEST("Where a route table is taken away requests find no route until it is there again") {
  Origin origin(answering("hello"));
  const plan::Update plan = httpPlan({origin.port()});
  Proxy proxy(plan);
  Socket client = proxy.connect();
  plan::Update update;
  update.removed_route_tables = {"routes", "nobody"};
  EXPECT(proxy.dataPlane().apply(update).empty());
  EXPECT(becomes(proxy, client, status("404")));
  update = {};
  update.route_tables = plan.route_tables;
  EXPECT(proxy.dataPlane().apply(update).empty());
  EXPECT(becomes(proxy, client, ending("hello")));
}

TEST("A broken route table is refused, and the one before it goes on") {
  Origin origin(answering("hello"));
  const plan::Update plan = httpPlan({origin.port()});
  Proxy proxy(plan);
  plan::Update update;
  update.route_tables = plan.route_tables;
  update.route_tables[0].virtual_hosts[0].routes[0].match->path_kind = PathKind::Regex;
  update.route_tables[0].virtual_hosts[0].routes[0].match->regex = regexPlan("nonsense");
  EXPECT_EQ(proxy.dataPlane().apply(update).size(), 1u);
  Socket client = proxy.connect();
  EXPECT(ask(client).ends_with("hello"));
}

TEST("A cluster that is removed answers what it has, refuses the rest, and nothing is left of it") {
  std::promise<void> go;
  Origin origin(answeringAfter(go.get_future().share(), "hello"));
  const plan::Update plan = httpPlan({origin.port()});
  Proxy proxy(plan);
  worker::DataPlane& plane = proxy.dataPlane();
  const std::weak_ptr<const void> cluster = plane.clusters().at("origin");
  const std::weak_ptr<const void> hosts = plane.clusters().at("origin")->hosts();
  Socket client = proxy.connect();
  Socket next = proxy.connect();
  client.write(kGet);
  EXPECT(proxy.waitFor("cluster.origin.upstream_rq_active", 1));

  plan::Update update;
  update.removed_clusters = {"origin", "nobody"};
  EXPECT(plane.apply(update).empty());
  EXPECT(plane.clusters().empty());
  EXPECT(becomes(proxy, next, status("503")));
  EXPECT_EQ(proxy.stat("http.in.no_cluster"), 1u);
  EXPECT_EQ(proxy.stat("cluster_manager.cluster_removed"), 1u);
  EXPECT_EQ(proxy.stat("cluster_manager.active_clusters"), 0u);
  plane.sweep();
  EXPECT(!cluster.expired());
  go.set_value();
  EXPECT(client.readMessage().ends_with("hello"));
  EXPECT(isGone(proxy, cluster));
  EXPECT(isGone(proxy, hosts));
  EXPECT(!plane.stats().value("cluster.origin.upstream_rq_total"));

  plan::Update again;
  again.clusters = plan.clusters;
  again.assignments = plan.assignments;
  EXPECT(plane.apply(again).empty());
  EXPECT(becomes(proxy, client, ending("hello")));
}

TEST("A cluster that takes another's place under its name serves the next request") {
  Origin one(answering("one"));
  Origin two(answering("two"));
  Proxy proxy(httpPlan({one.port()}), 2);
  Socket client = proxy.connect();
  EXPECT(ask(client).ends_with("one"));
  const std::weak_ptr<const void> before = proxy.dataPlane().clusters().at("origin");
  EXPECT(proxy.dataPlane().apply(clusterNamed("origin", {two.port()})).empty());
  EXPECT(becomes(proxy, client, ending("two")));
  EXPECT_EQ(proxy.stat("cluster_manager.cluster_modified"), 1u);
  EXPECT(isGone(proxy, before));
}

TEST(
    "A cluster that has to ask for its hosts goes on with those of the one it takes the place of") {
  Origin origin(answering("hello"));
  const plan::Update plan = httpPlan({origin.port()});
  Proxy proxy(plan);
  Socket client = proxy.connect();
  plan::Update changed;
  changed.clusters = plan.clusters;
  changed.clusters[0].is_discovered = true;
  changed.clusters[0].panic_threshold_pct = 0;
  EXPECT(proxy.dataPlane().apply(changed).empty());
  EXPECT(ask(client).ends_with("hello"));
  EXPECT(proxy.dataPlane().apply(only({hostsOn({})})).empty());
  EXPECT(becomes(proxy, client, ending("no healthy upstream")));
}

TEST("A cluster goes on, and its hosts move, until the one in its place has all that it needs") {
  Origin one(answering("one"));
  Origin two(answering("two"));
  Origin three(answering("three"));
  const plan::Update plan = httpPlan({one.port()});
  Proxy proxy(plan);
  worker::DataPlane& plane = proxy.dataPlane();
  Socket client = proxy.connect();
  EXPECT(ask(client).ends_with("one"));
  const auto before = plane.clusters().at("origin");
  plan::Update next;
  next.clusters = plan.clusters;
  next.clusters[0].is_discovered = next.clusters[0].awaits_hosts = true;
  EXPECT(plane.apply(next).empty());
  EXPECT_EQ(proxy.stat("cluster_manager.cluster_modified"), 1u);
  EXPECT_EQ(proxy.stat("cluster.origin.warming_state"), 1u);
  plan::Assignment former = httpPlan({two.port()}).assignments[0];
  former.is_former = true;
  EXPECT(plane.apply(only({former})).empty());
  EXPECT(becomes(proxy, client, ending("two")));
  // Its own hosts have come, and others of its needs have not.
  EXPECT(plane.apply(only({httpPlan({three.port()}).assignments[0]})).empty());
  EXPECT(ask(client).ends_with("two"));
  EXPECT(plane.clusters().at("origin") == before);

  plane.setWarming("origin", false);
  EXPECT(becomes(proxy, client, ending("three")));
  EXPECT(plane.clusters().at("origin") != before);
  EXPECT_EQ(proxy.stat("cluster.origin.warming_state"), 0u);
  EXPECT(plane.apply(only({former})).empty());
  EXPECT(ask(client).ends_with("three"));
  // In vain: it has none, and what comes later is a change.
  EXPECT(plane.apply(next).empty());
  const uint64_t updates = proxy.stat("cluster_manager.cluster_updated");
  plane.setWarming("origin", false);
  EXPECT(becomes(proxy, client, ending("no healthy upstream")));
  EXPECT_EQ(proxy.stat("cluster_manager.cluster_updated"), updates);
  EXPECT(plane.apply(only({httpPlan({one.port()}).assignments[0]})).empty());
  EXPECT(becomes(proxy, client, ending("one")));
  EXPECT_EQ(proxy.stat("cluster_manager.cluster_updated"), updates + 1);
  // Who goes while another waits takes it along.
  EXPECT(plane.apply(next).empty());
  plan::Update without;
  without.removed_clusters = {"origin"};
  EXPECT(plane.apply(without).empty());
  plane.setWarming("origin", false);
  EXPECT(!plane.clusters().contains("origin"));
}

TEST("Clusters that have waited take their places together") {
  Origin one(answering("one"));
  Origin later(answering("later"));
  const plan::Update plan = httpPlan({one.port()});
  Proxy proxy(plan);
  worker::DataPlane& plane = proxy.dataPlane();
  for (const std::string name : {"first", "second", "third"}) {
    plan::Update next = clusterNamed(name, {later.port()});
    next.clusters[0].awaits_hosts = true;
    EXPECT(plane.apply(next).empty());
  }
  EXPECT_EQ(proxy.stat("cluster_manager.warming_clusters"), 3u);
  // Who is there already, and who is not, waits for nothing.
  plane.endWaits({"third", "origin", "nobody", "first"});
  EXPECT(plane.clusters().contains("first") && plane.clusters().contains("third"));
  EXPECT(!plane.clusters().contains("second"));
  EXPECT_EQ(proxy.stat("cluster_manager.warming_clusters"), 1u);
  EXPECT_EQ(proxy.stat("cluster.first.warming_state"), 0u);
  EXPECT_EQ(proxy.stat("cluster.second.warming_state"), 1u);
  Socket client = proxy.connect();
  for (const std::string name : {"first", "third"}) {
    plan::Update table;
    table.route_tables = {markedTableTo(plan, name)};
    EXPECT(plane.apply(table).empty());
    EXPECT(becomes(proxy, client, [&](const std::string& answer) {
      return answer.find("x-table: " + name) != std::string::npos && answer.ends_with("later");
    }));
  }
}

TEST("A change of weight or health drains no connection of a host and zeroes no counter") {
  Origin origin(answering("hello"));
  const plan::Update plan = httpPlan({origin.port()});
  Proxy proxy(plan);
  worker::DataPlane& plane = proxy.dataPlane();
  Socket client = proxy.connect();
  EXPECT(ask(client).ends_with("hello"));
  const auto host = plane.clusters().at("origin")->hosts()->hosts()[0];
  plan::Assignment changed = plan.assignments[0];
  changed.hosts[0].weight = 7;
  changed.hosts[0].health = plan::Host::Health::Degraded;
  EXPECT(plane.apply(only({changed})).empty());
  EXPECT_EQ(proxy.stat("cluster.origin.membership_degraded"), 1u);
  EXPECT_EQ(host->weight(), 7u);
  EXPECT(ask(client).ends_with("hello"));
  EXPECT(plane.apply(only({plan.assignments[0]})).empty());
  EXPECT(ask(client).ends_with("hello"));

  EXPECT(plane.clusters().at("origin")->hosts()->hosts()[0] == host);
  EXPECT_EQ(host->sum(&upstream::HostCounters::rq_total), 3u);
  EXPECT_EQ(origin.connections(), 1);
  EXPECT_EQ(proxy.stat("cluster.origin.membership_degraded"), 0u);
  EXPECT_EQ(proxy.stat("cluster.origin.membership_change"), 1u);
}

TEST("Ten thousand clusters that come at once serve, and go at once, while others are asked") {
  Origin origin(answering("hello"));
  plan::Update plan = httpPlan({origin.port()});
  Proxy proxy(plan, 2);
  worker::DataPlane& plane = proxy.dataPlane();
  Socket client = proxy.connect();
  plan::Update many;
  for (int i = 0; i < 10'000; ++i) {
    many.clusters.push_back(plan.clusters[0]);
    many.assignments.push_back(plan.assignments[0]);
    many.clusters.back().name = many.assignments.back().cluster_name = "c" + std::to_string(i);
  }
  many.route_tables = {markedTableTo(plan, "c9999")};
  EXPECT(plane.apply(many).empty());
  EXPECT(proxy.waitUntil([&] {
    const std::string answer = ask(client);
    EXPECT(answer.starts_with("HTTP/1.1 200 "));
    return answer.find("x-table: c9999\r\n") != std::string::npos;
  }));
  EXPECT_EQ(proxy.stat("cluster_manager.active_clusters"), 10'001u);
  const std::weak_ptr<const void> last = plane.clusters().at("c9999");
  plan::Update back;
  back.route_tables = plan.route_tables;
  for (const plan::Cluster& cluster : many.clusters) back.removed_clusters.push_back(cluster.name);
  EXPECT(plane.apply(back).empty());
  EXPECT(ask(client).ends_with("hello"));
  EXPECT(isGone(proxy, last));
  EXPECT_EQ(plane.clusters().size(), 1u);
}

TEST("Through 1,000 random updates and removals every request is answered as it should be") {
  Origin one(answering("hello"));
  Origin two(answering("hello"));
  const plan::Update plan = httpPlan({one.port(), two.port()});
  Proxy proxy(plan, 2);
  worker::DataPlane& plane = proxy.dataPlane();
  EXPECT(plane.apply(clusterNamed("spare", {one.port()})).empty());
  std::atomic<bool> over{false};
  std::atomic<int> answers{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 2; ++i) {
    clients.emplace_back([&] {
      while (!over) {
        Socket client = proxy.connect();
        for (int n = 0; n < 50 && !over; ++n) {
          EXPECT(ask(client).starts_with("HTTP/1.1 200 "));
          ++answers;
        }
      }
    });
  }
  std::mt19937 random(7);
  for (int round = 0; round < 1000 || answers < 1000; ++round) {
    plan::Update update;
    const std::string passing = "passing" + std::to_string(random() % 20);
    switch (random() % 6) {
      case 0:
        update = clusterNamed(passing, {two.port()});
        break;
      case 1:
        update.removed_clusters = {passing};
        break;
      case 2:
        update.route_tables = {markedTableTo(plan, random() % 2 ? "origin" : "spare")};
        break;
      case 3:
        update.assignments = plan.assignments;
        update.assignments[0].hosts[random() % 2].weight = 1 + random() % 5;
        break;
      case 4:
        update.assignments = plan.assignments;
        update.assignments[0].hosts.erase(update.assignments[0].hosts.begin() + random() % 2);
        break;
      default:
        update = clusterNamed(random() % 2 ? "origin" : "spare", {two.port(), one.port()});
    }
    EXPECT(plane.apply(update).empty());
  }
  over = true;
  for (std::thread& client : clients) client.join();
  proxy.expectQuiet();
}

TEST("A cluster that waits for its first hosts is counted apart, and there once it has them") {
  Origin origin(answering("hello"));
  plan::Update plan = httpPlan({origin.port()});
  plan.clusters[0].awaits_hosts = true;
  Proxy proxy(plan);
  worker::DataPlane& plane = proxy.dataPlane();
  const uint64_t count = proxy.stat("cluster_manager.active_clusters");
  const auto counts = [&] {
    return std::pair(proxy.stat("cluster_manager.active_clusters"),
                     proxy.stat("cluster_manager.warming_clusters"));
  };
  EXPECT(counts() == std::pair(count, uint64_t{1}));
  EXPECT(!plane.clusters().contains("origin") && plane.findCluster("origin"));
  EXPECT_EQ(proxy.stat("cluster.origin.membership_total"), 1u);
  Socket client = proxy.connect();
  // As of a name that nobody knows.
  const std::string answer = ask(client);
  EXPECT(answer.starts_with("HTTP/1.1 503 ") && answer.ends_with("\r\n\r\n"));
  plane.setWarming("origin", false);
  EXPECT(counts() == std::pair(count + 1, uint64_t{0}));
  EXPECT(becomes(proxy, client, ending("hello")));
  // It goes, or another takes its place: nothing waits.
  plan::Update again;
  again.clusters = plan.clusters;
  EXPECT(plane.apply(again).empty());
  EXPECT(counts() == std::pair(count + 1, uint64_t{1}));
  again.clusters[0].awaits_hosts = false;
  EXPECT(plane.apply(again).empty());
  EXPECT(counts() == std::pair(count + 1, uint64_t{0}));
  again.clusters[0].awaits_hosts = true;
  EXPECT(plane.apply(again).empty());
  plan::Update without;
  without.removed_clusters = {"origin"};
  EXPECT(plane.apply(without).empty());
  EXPECT(counts() == std::pair(count, uint64_t{0}));
  EXPECT_EQ(proxy.stat("cluster_manager.cluster_removed"), 1u);
  EXPECT(plane.apply(again).empty());
  EXPECT(plane.apply(without).empty());
  EXPECT(counts() == std::pair(count, uint64_t{0}));
  EXPECT_EQ(proxy.stat("cluster_manager.cluster_removed"), 2u);
  plane.setWarming("nobody", true);
  EXPECT(counts() == std::pair(count, uint64_t{0}));
}

}  // namespace fairlead::test
