// Filters that only some requests pass, and what stands in a composite's place.
#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

plan::MatchEdge edgeOf(std::string value, uint32_t action) {
  plan::MatchEdge edge;
  edge.text = std::move(value);
  edge.outcome.emplace().action = action;
  return edge;
}

// By "x-do": "skip" is action 0, "fault" 1.
plan::MatchSettings byHeader(plan::MatchInput::Kind kind = plan::MatchInput::Kind::RequestHeader) {
  plan::MatchSettings settings;
  plan::MatchNode& node = settings.tree.emplace().nodes.emplace_back();
  node.kind = plan::MatchNode::Kind::Exact;
  plan::MatchInput& input = node.input.emplace();
  input.kind = kind;
  input.name = "x-do";
  node.edges = {edgeOf("skip", 0), edgeOf("fault", 1)};
  settings.actions.resize(2);
  settings.actions[0].skips = true;
  return settings;
}

plan::HttpFilter faultOf(uint32_t status) {
  plan::HttpFilter filter;
  plan::FaultAbort& abort = filter.fault.emplace().abort.emplace();
  abort.http_status = status;
  plan::FaultShare& share = abort.share.emplace();
  share.numerator = 100;
  share.unit_millionths = 10'000;
  return filter;
}

plan::Update planOf(uint16_t port, plan::HttpFilter filter) {
  plan::Update plan = httpPlan({port});
  managerOf(plan).http_filters.push_back(std::move(filter));
  return plan;
}

}  // namespace

TEST("A tree has requests skip a filter that all others pass") {
  Origin origin(answering("origin"));
  plan::HttpFilter filter = faultOf(418);
  filter.match = byHeader();
  Proxy proxy(planOf(origin.port(), std::move(filter)));
  EXPECT(has(get(proxy, "/", ""), "418"));
  EXPECT(has(get(proxy, "/", "x-do: other\r\n"), "418"));
  EXPECT(has(get(proxy, "/", "x-do: skip\r\n"), "origin"));
}

TEST("What a tree names stands in a composite's place, and is counted") {
  Origin origin(answering("origin"));
  plan::HttpFilter filter;
  filter.composite.emplace();
  filter.match = byHeader();
  filter.match->actions[1].filters.push_back(faultOf(419));
  Proxy proxy(planOf(origin.port(), std::move(filter)));
  EXPECT(has(get(proxy, "/", ""), "origin"));
  EXPECT(has(get(proxy, "/", "x-do: skip\r\n"), "origin"));
  EXPECT(has(get(proxy, "/", "x-do: fault\r\n"), "419"));
  EXPECT_EQ(proxy.stat("http.in.composite.filter_delegation_success"), 1u);
}

TEST("What depends on an answer that is still to come leaves the filter in its place") {
  Origin origin(answering("origin"));
  plan::HttpFilter filter = faultOf(418);
  filter.match = byHeader(plan::MatchInput::Kind::ResponseHeader);
  Proxy proxy(planOf(origin.port(), std::move(filter)));
  EXPECT(has(get(proxy, "/", "x-do: skip\r\n"), "418"));
}

}  // namespace fairlead::test
