// Headers that are added and removed, with the order of lines that the real server sends.
#include "route/header_mutations.h"

#include <string>
#include <vector>

#include "test/native/route/fixtures.h"
#include "test/native/test.h"

namespace fairlead {

using test::Headers;
using Action = plan::HeaderAddition::Action;

namespace {

plan::HeaderAddition addition(std::string name, plan::Format value,
                              Action action = Action::Append) {
  return {std::move(name), std::move(value), action, false};
}
plan::HeaderAddition addition(std::string name, std::string value, Action action = Action::Append) {
  return addition(std::move(name), test::literalFormat(std::move(value)), action);
}

std::string requestAfter(plan::HeaderMutations plan, Headers headers) {
  Arena arena(512);
  format::FormatContext context;
  context.request_headers = &headers.map();
  const route::HeaderMutations mutations(plan);
  mutations.request.apply(headers.map(), context, arena);
  return headers.text();
}

std::string responseAfter(plan::HeaderMutations plan, Headers headers) {
  Arena arena(512);
  const route::HeaderMutations mutations(plan);
  mutations.response.apply(headers.map(), format::FormatContext(), arena);
  return headers.text();
}

// A table, virtual host, route and weighted cluster that each set and append their name.
plan::HeaderMutations speaking(std::string name) {
  plan::HeaderMutations mutations;
  mutations.request_add = {addition("x-set", name, Action::OverwriteOrAdd),
                           addition("x-level", name)};
  mutations.response_add = mutations.request_add;
  return mutations;
}

std::string levels(bool most_specific_wins) {
  plan::ClusterAction action;
  action.weighted = plan::WeightedClusters{{test::weightedCluster("c", 1)}, ""};
  action.weighted->clusters[0].mutations = speaking("weight");
  plan::Route route;
  route.match = test::pathMatch(test::PathKind::Prefix, "/");
  route.mutations = speaking("route");
  route.cluster = action;
  plan::VirtualHost host = test::virtualHost({"*"}, {route});
  host.mutations = speaking("host");
  plan::RouteTable plan;
  plan.virtual_hosts = {host};
  plan.mutations = speaking("table");
  plan.most_specific_header_mutations_wins = most_specific_wins;
  const auto table = route::RouteTable::build(plan, test::someClusters()).value();
  const route::Target& target = table->findHost("h")->routes.routes[0].cluster->targets[0];
  Headers headers;
  Arena arena(512);
  target.chain.applyToRequest(headers.map(), format::FormatContext(), arena);
  std::string text;
  for (const http::HeaderEntry& entry : headers.map()) {
    if (entry.name() == "x-level") text.append(entry.value()).append(" ");
    if (entry.name() == "x-set") text.append("[").append(entry.value()).append("] ");
  }
  return text;
}

}  // namespace

TEST("removals come first, then what overwrites at the end, then what is added, in their order") {
  plan::HeaderMutations plan;
  plan.request_remove = {"x-rm"};
  plan.request_add = {
      addition("x-a", "1"),
      addition("x-b", test::requestHeaderFormat("x-a")),
      addition("x-c", "over", Action::OverwriteOrAdd),
      addition("x-d", test::requestHeaderFormat("x-c")),
      addition("x-n", "n1", Action::AddIfAbsent),
      addition("x-n", "n2", Action::AddIfAbsent),
      addition("x-e", "E", Action::OverwriteIfExists),
      addition("x-f", "F", Action::OverwriteIfExists),
      addition("x-g", test::requestHeaderFormat("x-rm")),
  };
  Headers headers;
  headers.add("x-a", "0").add("x-c", "c").add("x-rm", "r").add("x-e", "e1").add("x-mid", "m");
  headers.add("x-e", "e2");
  EXPECT_EQ(requestAfter(plan, std::move(headers)),
            "x-a: 0\nx-mid: m\nx-c: over\nx-e: E\nx-a: 1\nx-b: 0\nx-d: c\nx-n: n1\nx-n: n2\n");
}

TEST("ADD_IF_ABSENT leaves what is there") {
  plan::HeaderMutations plan;
  plan.request_add = {addition("x-a", "added", Action::AddIfAbsent)};
  Headers headers;
  headers.add("x-a", "");
  EXPECT_EQ(requestAfter(plan, std::move(headers)), "x-a: \n");
}

TEST("an added value joins the line of a header that keeps one line") {
  plan::HeaderMutations plan;
  plan.request_add = {addition("user-agent", "added"), addition("x-forwarded-for", "1"),
                      addition("x-forwarded-for", "2"), addition("x-other", "added"),
                      addition("server", "added")};
  Headers headers;
  headers.add("user-agent", "orig").add("x-other", "orig").add("server", "orig");
  EXPECT_EQ(requestAfter(plan, std::move(headers)),
            "user-agent: orig,added\nx-other: orig\nserver: orig\nx-forwarded-for: 1,2\n"
            "x-other: added\nserver: added\n");
}

TEST("which headers keep one line differs between requests and responses") {
  plan::HeaderMutations plan;
  plan.response_add = {addition("server", "added"), addition("user-agent", "added")};
  Headers headers;
  headers.add("server", "orig").add("user-agent", "orig");
  EXPECT_EQ(responseAfter(plan, std::move(headers)),
            "server: orig,added\nuser-agent: orig\nuser-agent: added\n");
}

TEST("a value that comes out empty changes nothing unless it is to be kept") {
  plan::HeaderMutations plan;
  plan.request_add = {
      addition("x-custom", test::requestHeaderFormat("none"), Action::OverwriteOrAdd),
      addition("x-two", test::requestHeaderFormat("none"), Action::OverwriteOrAdd)};
  plan.request_add[1].keep_empty = true;
  Headers headers;
  headers.add("x-custom", "a").add("x-two", "b");
  EXPECT_EQ(requestAfter(plan, std::move(headers)), "x-custom: a\nx-two: \n");
}

TEST("a list longer than the inline buffer changes all of its headers") {
  plan::HeaderMutations plan;
  std::string wanted;
  for (int i = 0; i < 40; ++i) {
    const std::string name = "x-" + std::to_string(i);
    plan.request_add.push_back(addition(name, "v"));
    wanted += name + ": v\n";
  }
  EXPECT_EQ(requestAfter(plan, Headers()), wanted);
}

TEST("the table speaks last, or the route when the most specific wins; a weight always first") {
  EXPECT_EQ(levels(false), "weight route host [table] table ");
  EXPECT_EQ(levels(true), "weight table host [route] route ");
}

TEST("a route without mutations has an empty chain") {
  plan::RouteTable plan;
  plan.virtual_hosts = {test::virtualHost(
      {"*"}, {test::namedRoute("r", test::pathMatch(test::PathKind::Prefix, "/"))})};
  const auto table = route::RouteTable::build(plan, test::someClusters()).value();
  const route::Route& route = table->findHost("h")->routes.routes[0];
  EXPECT(!route.chain.changesRequest());
  EXPECT(!route.chain.changesResponse());
}

}  // namespace fairlead
