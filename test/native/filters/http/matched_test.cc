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

TEST("A composite has several filters in its place, in their order") {
  Origin origin(answering("origin"));
  plan::HttpFilter filter;
  filter.composite.emplace();
  filter.match = byHeader();
  for (const char* value : {R"({"a":1,"b":1})", R"({"b":2})"}) {
    plan::HttpFilter set;
    set.set_metadata.emplace().entries = {{"space", true, value, {}}};
    filter.match->actions[1].filters.push_back(std::move(set));
  }
  plan::Update plan = planOf(origin.port(), std::move(filter));
  auto& filters = managerOf(plan).http_filters;
  filters.insert(filters.begin(),
                 answersShow("x-told", plan::FormatPiece::Operator::DynamicMetadata, "space"));
  Proxy proxy(plan);
  EXPECT(has(get(proxy, "/", "x-do: fault\r\n"), R"(x-told: {"a":1,"b":2})"));
  EXPECT(!has(get(proxy, "/", "x-do: skip\r\n"), R"("a")"));
}

TEST("A composite may take part of the requests alone") {
  for (const uint32_t millionths : {0u, 1'000'000u}) {
    Origin origin(answering("origin"));
    plan::HttpFilter filter;
    filter.composite.emplace();
    filter.match = byHeader();
    filter.match->actions[1].filters.push_back(faultOf(419));
    filter.match->actions[1].share.emplace().millionths = millionths;
    Proxy proxy(planOf(origin.port(), std::move(filter)));
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(has(get(proxy, "/", "x-do: fault\r\n"), "419"), millionths > 0);
    }
    EXPECT_EQ(proxy.stat("http.in.composite.filter_delegation_success"), millionths > 0 ? 5u : 0u);
  }
}

TEST("What an answer decides comes too late for a composite, which is counted") {
  Origin origin([](Socket& socket, int) {
    while (!socket.readMessage().empty()) {
      if (!socket.write("HTTP/1.1 200 OK\r\nx-do: fault\r\ncontent-length: 0\r\n\r\n")) return;
    }
  });
  plan::HttpFilter filter;
  filter.composite.emplace();
  filter.match = byHeader(plan::MatchInput::Kind::ResponseHeader);
  filter.match->actions[1].filters.push_back(faultOf(419));
  Proxy proxy(planOf(origin.port(), std::move(filter)));
  EXPECT(get(proxy, "/").starts_with("HTTP/1.1 200 "));
  EXPECT_EQ(proxy.stat("http.in.composite.filter_delegation_error"), 1u);
  EXPECT_EQ(proxy.stat("http.in.composite.filter_delegation_success"), 0u);
}

TEST("A route's tree stands in place of the filter's") {
  Origin origin(answering("origin"));
  plan::HttpFilter filter;
  filter.composite.emplace();
  filter.match = byHeader();
  filter.match->actions[1].filters.push_back(faultOf(419));
  plan::Update plan = planOf(origin.port(), std::move(filter));
  plan::FilterConfig config;
  config.match = byHeader();
  config.match->stat_prefix = "in";
  config.match->actions[1].filters.push_back(faultOf(420));
  sayOnRoute(plan, 0, std::move(config));
  Proxy proxy(plan);
  EXPECT(has(get(proxy, "/", "x-do: fault\r\n"), " 420 "));
  EXPECT(has(get(proxy, "/", "x-do: skip\r\n"), "origin"));
}

}  // namespace fairlead::test
