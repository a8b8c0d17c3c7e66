// What is found out of hosts' health while requests are under way.
#include <string>

#include "test/native/support/exchange.h"
#include "test/native/support/origin.h"
#include "test/native/support/proxy.h"
#include "test/native/test.h"
#include "worker/clusters_page.h"

namespace fairlead::test {

namespace {

std::string clustersText(worker::DataPlane& plane) {
  std::string text;
  const auto page = worker::openClustersText(plane, nullptr);
  while (page->next(&text)) {
  }
  return text;
}

bool says(worker::DataPlane& plane, const std::string& line) {
  return clustersText(plane).find(line) != std::string::npos;
}

}  // namespace

TEST(
    "What is posted of a host's health takes it out of the balancer, and is shown; connections "
    "that "
    "nobody uses end, and its counts stay") {
  Origin a(answering("a"));
  Origin b(answering("b"));
  Proxy proxy(httpPlan({a.port(), b.port()}));
  worker::DataPlane& plane = proxy.dataPlane();
  Socket client = proxy.connect();
  std::string first = ask(client);
  EXPECT(ask(client) != first);

  const auto cluster = plane.clusters().at("origin");
  const auto host = cluster->hosts()->hosts()[0];
  const std::string at = "origin::" + host->text() + "::health_flags::";
  EXPECT(says(plane, at + "healthy\n"));
  plane.healthInbox()->post(
      {.cluster = cluster->life(), .host = host, .set = upstream::HealthFlag::FailedOutlier});
  EXPECT(says(plane, at + "healthy\n"));
  plane.takeHealth();
  EXPECT(says(plane, at + "/failed_outlier_check\n"));
  EXPECT(
      worker::clusterStatusJson(*cluster).find(
          "\"health_status\":{\"failed_outlier_check\":true,\"eds_health_status\":\"HEALTHY\"}") !=
      std::string::npos);
  EXPECT(plane.stats().value("cluster.origin.membership_healthy") == 1u);
  EXPECT(proxy.waitUntil([&] { return ask(client).ends_with("b") && ask(client).ends_with("b"); }));
  EXPECT(proxy.waitUntil([&] { return host->sum(&upstream::HostCounters::cx_active) == 0; }));

  plane.healthInbox()->post(
      {.cluster = cluster->life(), .host = host, .cleared = upstream::HealthFlag::FailedOutlier});
  plane.takeHealth();
  EXPECT(proxy.waitUntil([&] { return ask(client).ends_with("a"); }));
  EXPECT(host->sum(&upstream::HostCounters::cx_total) == 2);
  EXPECT(plane.stats().value("cluster.origin.membership_healthy") == 2u);
}

TEST("What is posted of a host that is gone is nobody's") {
  Origin a(answering("a"));
  Proxy proxy(httpPlan({a.port()}));
  worker::DataPlane& plane = proxy.dataPlane();
  const auto cluster = plane.clusters().at("origin");
  plane.healthInbox()->post(
      {.cluster = cluster->life(), .host = {}, .set = upstream::HealthFlag::FailedActive});
  plane.takeHealth();
  EXPECT(plane.stats().value("cluster.origin.membership_healthy") == 1u);
}

}  // namespace fairlead::test
