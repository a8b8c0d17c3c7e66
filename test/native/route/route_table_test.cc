// Which virtual host takes a request, and what a table knows of its clusters.
#include "route/route_table.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "test/native/route/fixtures.h"
#include "test/native/test.h"

namespace fairlead {

using test::Request;
using test::virtualHost;

namespace {

using TablePointer = std::shared_ptr<const route::RouteTable>;

// One virtual host for each domain, of that name.
TablePointer tableOf(const std::vector<std::string>& domains, bool ignore_port = false) {
  plan::RouteTable plan;
  for (const std::string& domain : domains) plan.virtual_hosts.push_back(virtualHost({domain}));
  plan.ignore_port_in_host_matching = ignore_port;
  Result<TablePointer> built = route::RouteTable::build(plan, test::someClusters());
  return built ? built.value() : nullptr;
}

std::string hostOf(const TablePointer& table, std::string_view authority) {
  const route::VirtualHost* host = table->findHost(authority);
  return host ? host->plan.name : "none";
}

// As the real server describes its search, by trying all.
std::string hostNaively(const std::vector<std::string>& domains, std::string_view authority) {
  std::string lowered(authority);
  for (char& c : lowered) c = lowerAscii(c);
  std::string best_suffix;
  std::string best_prefix;
  std::string any = "none";
  for (const std::string& domain : domains) {
    if (domain == lowered) return domain;
    if (domain == "*") {
      any = domain;
    } else if (domain.size() > lowered.size()) {
      continue;
    } else if (domain[0] == '*') {
      if (lowered.ends_with(domain.substr(1)) && domain.size() > best_suffix.size()) {
        best_suffix = domain;
      }
    } else if (domain.back() == '*' && lowered.starts_with(domain.substr(0, domain.size() - 1)) &&
               domain.size() > best_prefix.size()) {
      best_prefix = domain;
    }
  }
  if (!best_suffix.empty()) return best_suffix;
  return best_prefix.empty() ? any : best_prefix;
}

plan::Route clusterRoute(plan::ClusterAction action) {
  plan::Route route;
  route.match = test::pathMatch(test::PathKind::Prefix, "/");
  route.cluster = std::move(action);
  return route;
}

}  // namespace

TEST("a host is searched exact, then by the longest suffix, then by the longest prefix, then *") {
  const TablePointer table = tableOf(
      {"*", "a.test", "b.test:8080", "*.a.test", "*.deep.a.test", "*-x.test", "www.*", "www.a.*"});
  EXPECT_EQ(hostOf(table, "a.test"), "a.test");
  EXPECT_EQ(hostOf(table, "b.test:8080"), "b.test:8080");
  EXPECT_EQ(hostOf(table, "b.test"), "*");
  EXPECT_EQ(hostOf(table, "x.a.test"), "*.a.test");
  EXPECT_EQ(hostOf(table, "x.deep.a.test"), "*.deep.a.test");
  EXPECT_EQ(hostOf(table, "me-x.test"), "*-x.test");
  EXPECT_EQ(hostOf(table, "www.b.org"), "www.*");
  EXPECT_EQ(hostOf(table, "www.a.org"), "www.a.*");
  EXPECT_EQ(hostOf(table, "www.a.test"), "*.a.test");
  EXPECT_EQ(hostOf(table, "other.test"), "*");
  EXPECT_EQ(hostOf(table, ""), "*");
}

TEST("an asterisk stands for at least one byte") {
  const TablePointer table = tableOf({"*.a.test", "www.*"});
  EXPECT_EQ(hostOf(table, ".a.test"), "none");
  EXPECT_EQ(hostOf(table, "www."), "none");
  EXPECT_EQ(hostOf(table, "x.a.test"), "*.a.test");
}

TEST("the case of a host does not count, and its port only if it is not ignored") {
  EXPECT_EQ(hostOf(tableOf({"a.test"}), "A.TesT"), "a.test");
  EXPECT_EQ(hostOf(tableOf({"a.test"}), "a.test:80"), "none");
  EXPECT_EQ(hostOf(tableOf({"a.test"}, true), "a.test:80"), "a.test");
  EXPECT_EQ(hostOf(tableOf({"[::1]"}, true), "[::1]:80"), "[::1]");
  EXPECT_EQ(hostOf(tableOf({"[::1]"}, true), "[::1]"), "[::1]");
}

TEST("a host longer than any buffer is found, too") {
  const std::string label(400, 'A');
  EXPECT_EQ(hostOf(tableOf({"*.a.test"}), label + ".A.test"), "*.a.test");
}

TEST("random domains are found as trying them all does") {
  std::vector<std::string> domains;
  uint64_t state = 7;
  const auto roll = [&](size_t bound) {
    state = state * 6364136223846793005 + 1442695040888963407;
    return static_cast<size_t>((state >> 33) % bound);
  };
  const auto name = [&] {
    static const char* const kLabels[] = {"a", "b", "ab", "www", "test", "x-y", "long-label-here"};
    std::string text = kLabels[roll(7)];
    for (size_t i = roll(3); i > 0; --i) text.append(".").append(kLabels[roll(7)]);
    return text;
  };
  for (int i = 0; i < 300; ++i) {
    std::string domain = name();
    const size_t kind = roll(3);
    if (kind == 1) domain = "*." + domain;
    if (kind == 2) domain += ".*";
    if (std::find(domains.begin(), domains.end(), domain) == domains.end()) {
      domains.push_back(domain);
    }
  }
  const TablePointer table = tableOf(domains);
  int differences = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string host = name();
    if (roll(2) == 0) host[0] = static_cast<char>(host[0] & ~0x20);
    if (hostOf(table, host) != hostNaively(domains, host)) ++differences;
  }
  EXPECT_EQ(differences, 0);
}

TEST("each cluster of a table has one slot, however often it is named") {
  plan::ClusterAction weighted;
  weighted.weighted = plan::WeightedClusters{
      {test::weightedCluster("two", 1), test::weightedCluster("one", 1)}, ""};
  plan::ClusterAction one;
  one.cluster = "one";
  plan::ClusterAction named;
  named.cluster_header = "x-c";
  plan::RouteTable plan;
  plan.virtual_hosts.push_back(
      virtualHost({"*"}, {clusterRoute(one), clusterRoute(named), clusterRoute(weighted)}));
  NameIds ids;
  TablePointer table = route::RouteTable::build(plan, ids).value();
  EXPECT_EQ(ids.count(), 2u);
  const std::vector<route::Route>& routes = table->findHost("h")->routes.routes;
  EXPECT_EQ(routes[0].cluster->targets[0].cluster.id(), 0u);
  EXPECT(!routes[1].cluster->targets[0].cluster);
  EXPECT_EQ(routes[2].cluster->targets[0].cluster.id(), 1u);
  EXPECT_EQ(routes[2].cluster->targets[1].cluster.id(), 0u);
  table.reset();
  EXPECT_EQ(ids.count(), 0u);
}

TEST("a broken regular expression is refused with the place of its route") {
  plan::Route route = test::namedRoute("r", test::pathMatch(test::PathKind::Regex, ""));
  route.match->regex = test::regexPlan("nonsense");
  plan::RouteTable plan;
  plan.virtual_hosts.push_back(virtualHost({"*"}, {route}));
  const Result<TablePointer> built = route::RouteTable::build(plan, test::someClusters());
  EXPECT(!built.ok());
  EXPECT(built.error().message.starts_with("virtual host '*', route 'r': "));
}

}  // namespace fairlead
