// Hosts that are put out while requests are under way, and hosts that are made as requests ask for
// them.
#include <atomic>
#include <string>
#include <vector>

#include "test/native/support/exchange.h"
#include "test/native/support/origin.h"
#include "test/native/support/proxy.h"
#include "test/native/test.h"
#include "worker/clusters_page.h"

namespace fairlead::test {

namespace {

bool shows(worker::DataPlane& plane, const std::string& line) {
  std::string text;
  const auto page = worker::openClustersText(plane, nullptr);
  while (page->next(&text)) {
  }
  return text.find(line) != std::string::npos;
}

plan::Update outlierPlan(const std::vector<uint16_t>& hosts, uint64_t failures) {
  plan::Update update = httpPlan(hosts);
  plan::OutlierDetection& plan = update.clusters[0].outlier_detection.emplace();
  plan.interval_ms = plan::LiveNumber{600'000, 0};
  plan.base_ejection_time_ms = plan.max_ejection_time_ms = plan.interval_ms;
  plan.max_ejection_percent = plan::LiveNumber{100, 0};
  plan.consecutive_5xx = plan::LiveNumber{failures, 0};
  plan.enforcing_consecutive_5xx = plan::LiveNumber{100, 0};
  plan.success_rate_minimum_hosts = plan.failure_percentage_minimum_hosts = plan::LiveNumber{5, 0};
  return update;
}

Origin::Script failing() {
  return [](Socket& socket, int) {
    while (!socket.readMessage().empty()) {
      socket.write("HTTP/1.1 500 Internal Server Error\r\ncontent-length: 4\r\n\r\nfail");
    }
  };
}

// Hosts are where a header says; those without a connection are dropped at once.
plan::Update destinationPlan() {
  plan::Update update = httpPlan({});
  update.assignments.clear();
  plan::DestinationHosts& rules = update.clusters[0].destination_hosts.emplace();
  rules.header = "x-to";
  rules.cleanup_interval_ms = 1;
  return update;
}

std::string get(uint16_t port) {
  return "GET / HTTP/1.1\r\nhost: a\r\nx-to: 127.0.0.1:" + std::to_string(port) + "\r\n\r\n";
}

}  // namespace

TEST("A host that fails so often in a row gets nothing more, and is shown as put out") {
  Origin bad(failing());
  Origin good(answering("fine"));
  Proxy proxy(outlierPlan({bad.port(), good.port()}, 2));
  worker::DataPlane& plane = proxy.dataPlane();
  Socket client = proxy.connect();
  EXPECT(shows(plane, "origin::outlier::success_rate_average::-1\n"));
  const std::string at =
      "origin::" + plane.clusters().at("origin")->hosts()->hosts()[0]->text() + "::health_flags::";
  EXPECT(shows(plane, at + "healthy\n"));
  // By turns.
  for (int i = 0; i < 4; ++i) ask(client);
  EXPECT(proxy.waitUntil([&] {
    plane.takeHealth();
    return shows(plane, at + "/failed_outlier_check\n");
  }));
  EXPECT(proxy.stat("cluster.origin.outlier_detection.ejections_active") == 1);
  EXPECT(proxy.waitUntil(
      [&] { return ask(client).ends_with("fine") && ask(client).ends_with("fine"); }));
  // A cluster that takes its place begins anew.
  plan::Update again = outlierPlan({bad.port(), good.port()}, 2);
  again.listeners.clear();
  EXPECT(plane.apply(again).empty());
  EXPECT(shows(plane, at + "healthy\n"));
}

TEST("Whoever wakes the control thread is woken once for a row of failures") {
  Origin bad(failing());
  std::atomic<int> wakes = 0;
  worker::DataPlane::Options options;
  options.on_health = [&wakes] { ++wakes; };
  Proxy proxy(outlierPlan({bad.port()}, 3), options);
  Socket client = proxy.connect();
  for (int i = 0; i < 9; ++i) ask(client);
  EXPECT(proxy.waitUntil([&] { return wakes.load() == 1; }));
  proxy.dataPlane().takeHealth();
  EXPECT(proxy.stat("cluster.origin.outlier_detection.ejections_consecutive_5xx") == 1);
}

TEST(
    "Hosts are made where requests ask for them, known to all, and dropped when nobody uses them") {
  Origin a(answering("a"));
  Proxy proxy(destinationPlan());
  worker::DataPlane& plane = proxy.dataPlane();
  EXPECT(plane.healthDue() != UINT64_MAX);
  const std::string name = "127.0.0.1:" + std::to_string(a.port());
  {
    Socket client = proxy.connect();
    client.write(get(a.port()));
    EXPECT(client.readMessage().ends_with("a"));
    client.write(get(a.port()));
    EXPECT(client.readMessage().ends_with("a"));
    plane.takeHealth();
    EXPECT(shows(plane, "origin::" + name + "::hostname::origin" + name + "\n"));
    EXPECT(shows(plane, "origin::" + name + "::rq_total::2\n"));
    EXPECT(proxy.stat("cluster.origin.membership_total") == 1);
    client.write(get(a.port()));
    EXPECT(client.readMessage().ends_with("a") && a.connections() == 1);
    // No address, an empty one, and none at all.
    client.write("GET / HTTP/1.1\r\nhost: a\r\nx-to: nowhere\r\n\r\n");
    EXPECT(client.readMessage().starts_with("HTTP/1.1 503"));
    client.write("GET / HTTP/1.1\r\nhost: a\r\nx-to:\r\n\r\n");
    EXPECT(client.readMessage().starts_with("HTTP/1.1 503"));
    client.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    EXPECT(client.readMessage().starts_with("HTTP/1.1 503"));
    EXPECT(proxy.stat("cluster.origin.original_dst_host_invalid") == 2);
    EXPECT(proxy.stat("cluster.origin.upstream_cx_none_healthy") == 3);
  }
  // Nobody is there: the connection fails, and the host with it.
  const RefusingPort closed;
  EXPECT(ask(proxy, get(closed.number())).starts_with("HTTP/1.1 503"));
  EXPECT(proxy.waitUntil([&] {
    plane.takeHealth();
    return proxy.stat("cluster.origin.membership_change") == 3;
  }));
  EXPECT(proxy.stat("cluster.origin.membership_total") == 1);
}

}  // namespace fairlead::test
