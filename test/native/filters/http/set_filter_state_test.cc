// Texts that are kept with a request under names.
#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

using StateOp = plan::FormatPiece::Operator;

plan::FilterStateValue keptAs(const std::string& key, StateOp op, const std::string& argument) {
  plan::FilterStateValue value;
  value.key = key;
  plan::FormatPiece piece;
  piece.op = op;
  piece.argument = argument;
  value.value.emplace().pieces = {piece};
  value.value->omit_empty = true;
  return value;
}

plan::FilterStateValue keptText(const std::string& key, const std::string& text,
                                bool read_only = false) {
  plan::FilterStateValue value = keptAs(key, StateOp::Literal, text);
  value.read_only = read_only;
  return value;
}

plan::Update withState(uint16_t port, std::vector<plan::FilterStateValue> values) {
  plan::Update plan = httpPlan({port});
  auto& filters = managerOf(plan).http_filters;
  filters.push_back(answersShow("x-told", StateOp::FilterState, "key"));
  filters.emplace_back().set_filter_state.emplace().values = std::move(values);
  return plan;
}

}  // namespace

TEST("A text is made of the request, as it is when it passes") {
  Origin origin(answering("origin"));
  Proxy proxy(withState(origin.port(), {keptAs("key", StateOp::Req, "x-who")}));
  EXPECT(has(get(proxy, "/", "x-who: ann\r\n"), "x-told: ann\r\n"));
  EXPECT(has(get(proxy, "/", "x-who: bob\r\n"), "x-told: bob\r\n"));
}

TEST("What is set later stands in its place, unless it may not be changed") {
  for (const bool read_only : {false, true}) {
    Origin origin(answering("origin"));
    Proxy proxy(withState(origin.port(), {keptText("key", "first", read_only),
                                          keptText("other", "x"), keptText("key", "second")}));
    EXPECT(has(get(proxy, "/"), read_only ? "x-told: first\r\n" : "x-told: second\r\n"));
  }
}

TEST("A text that is empty is none where that is asked for, and stands in the other's place else") {
  for (const bool skips : {false, true}) {
    Origin origin(answering("origin"));
    plan::FilterStateValue empty = keptAs("key", StateOp::Req, "x-who");
    empty.skips_empty = skips;
    Proxy proxy(withState(origin.port(), {keptText("key", "before"), empty}));
    EXPECT_EQ(has(get(proxy, "/"), "x-told: before\r\n"), skips);
    EXPECT(has(get(proxy, "/", "x-who: ann\r\n"), "x-told: ann\r\n"));
  }
}

TEST("Routes set theirs after the filter's, the most specific last") {
  Origin origin(answering("origin"));
  plan::Update plan = withState(origin.port(), {keptText("key", "of filter")});
  for (const char* text : {"of route", "of table"}) {
    plan::FilterConfig config;
    config.set_filter_state.emplace().values = {keptText("key", text)};
    plan.route_tables[0].filter_configs.push_back(std::move(config));
  }
  plan::RouteFilter of_route;
  of_route.filter = 1;
  of_route.configs = {0, 1};
  plan.route_tables[0].virtual_hosts[0].routes[0].filters = {of_route};
  Proxy proxy(plan);
  EXPECT(has(get(proxy, "/"), "x-told: of route\r\n"));
}

TEST("The route is found again by what is kept, where that is asked for") {
  for (const bool clears : {false, true}) {
    Origin origin(answering("origin"));
    plan::Update plan = withState(origin.port(), {keptAs("key", StateOp::Req, "x-who")});
    managerOf(plan).http_filters[1].set_filter_state->clears_route = clears;
    auto& routes = plan.route_tables[0].virtual_hosts[0].routes;
    plan::Route of_ann;
    of_ann.match.emplace().path = "/";
    plan::FilterStateMatch& match = of_ann.match->filter_states.emplace_back();
    match.key = "key";
    match.text.emplace().value = "ann";
    of_ann.direct_response.emplace().status = 418;
    routes.insert(routes.begin(), std::move(of_ann));
    Proxy proxy(plan);
    EXPECT_EQ(has(get(proxy, "/", "x-who: ann\r\n"), " 418 "), clears);
    EXPECT(has(get(proxy, "/", "x-who: anna\r\n"), " 200 "));
  }
}

}  // namespace fairlead::test
