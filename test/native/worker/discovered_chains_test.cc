// Network and listener filters that come later: who connects meanwhile, and who is connected as
// they change.
#include <string>
#include <utility>

#include "test/native/support/exchange.h"
#include "test/native/support/origin.h"
#include "test/native/support/proxy.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

plan::ConnectionGuard missing() {
  plan::ConnectionGuard guard;
  guard.lacks_filter = true;
  return guard;
}

plan::Update changing(plan::FilterChain chain) {
  plan::Update update;
  update.changed_filter_chains = {std::move(chain)};
  return update;
}

plan::Update discovering(uint64_t id, std::vector<plan::ListenerFilter> filter) {
  plan::Update update;
  plan::DiscoveredListenerFilter& discovered = update.discovered_listener_filters.emplace_back();
  discovered.id = id;
  discovered.filter = std::move(filter);
  return update;
}

plan::FilterChain directResponse(uint64_t id, std::string body) {
  plan::FilterChain chain;
  chain.id = id;
  chain.direct_response.emplace().body = std::move(body);
  return chain;
}

// What a client that says nothing hears until its end.
std::string heard(Proxy& proxy) { return proxy.connect().readAll(); }

bool becomesHeard(Proxy& proxy, const std::string& text) {
  return proxy.waitUntil([&] { return heard(proxy) == text; });
}

}  // namespace

TEST(
    "A chain that lacks a filter closes its connections, until it has come, and again when it "
    "goes") {
  plan::Update plan = httpPlan({1});
  plan::FilterChain& chain = plan.listeners[0].filter_chains[0];
  chain = directResponse(7, "one");
  chain.guards = {missing()};
  Proxy proxy(plan, 2);
  EXPECT_EQ(heard(proxy), "");
  EXPECT(proxy.stat("listener.in.network_extension_config_missing") == 1u);
  EXPECT(proxy.dataPlane().apply(changing(directResponse(7, "one"))).empty());
  EXPECT(becomesHeard(proxy, "one"));
  EXPECT(proxy.dataPlane().apply(changing(directResponse(7, "two"))).empty());
  EXPECT(becomesHeard(proxy, "two"));
  // Of a chain that is not there nothing becomes.
  EXPECT(proxy.dataPlane().apply(changing(directResponse(8, "three"))).empty());
  EXPECT(proxy.dataPlane().apply(changing(chain)).empty());
  EXPECT(becomesHeard(proxy, ""));
  proxy.expectQuiet();
}

TEST("Who is connected keeps the chain as it was, however often it changes") {
  Origin origin(answering("hello"));
  plan::Update plan = httpPlan({origin.port()});
  plan.listeners[0].filter_chains[0].id = 7;
  Proxy proxy(plan);
  Socket client = proxy.connect();
  EXPECT(ask(client).ends_with("hello"));
  for (int i = 0; i < 20; ++i) {
    EXPECT(proxy.dataPlane().apply(changing(directResponse(7, std::to_string(i)))).empty());
    EXPECT(becomesHeard(proxy, std::to_string(i)));
    EXPECT(ask(client).ends_with("hello"));
  }
  client.close();
  proxy.expectQuiet();
}

TEST("Route tables that are left stay for connections whose manager names them") {
  Origin origin(answering("hello"));
  plan::Update plan = httpPlan({origin.port()});
  plan.listeners[0].filter_chains[0].id = 7;
  Proxy proxy(plan);
  Socket client = proxy.connect();
  EXPECT(ask(client).ends_with("hello"));
  plan::Update leaving = changing(directResponse(7, "later"));
  leaving.left_route_tables = {"routes", "nobody's"};
  EXPECT(proxy.dataPlane().apply(leaving).empty());
  EXPECT(becomesHeard(proxy, "later"));
  for (int i = 0; i < 5; ++i) {
    EXPECT(proxy.dataPlane().apply({}).empty());
    EXPECT(ask(client).ends_with("hello"));
  }
  client.close();
  proxy.expectQuiet();
}

TEST("A listener filter that has not come refuses all, and changes for those that come later") {
  plan::Update plan = httpPlan({1});
  plan.listeners[0].filter_chains[0] = directResponse(0, "in");
  plan::ListenerFilter& place = plan.listeners[0].listener_filters.emplace_back();
  place.discovered.emplace().id = 9;
  Proxy proxy(plan, 2);
  EXPECT_EQ(heard(proxy), "");
  EXPECT(proxy.stat("listener.in.extension_config_missing") == 1u);
  plan::ListenerFilter inspector;
  inspector.original_dst.emplace();
  EXPECT(proxy.dataPlane().apply(discovering(9, {inspector})).empty());
  EXPECT(becomesHeard(proxy, "in"));
  plan::ListenerFilter proxied;
  proxied.proxy_protocol.emplace();
  EXPECT(proxy.dataPlane().apply(discovering(9, {proxied})).empty());
  EXPECT(proxy.waitUntil([&] {
    Socket client = proxy.connect();
    client.write("GET / HTTP/1.1\r\n\r\n");
    return client.readAll().empty();
  }));
  Socket client = proxy.connect();
  client.write("PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n");
  EXPECT_EQ(client.readAll(), "in");
  EXPECT(proxy.dataPlane().apply(discovering(9, {})).empty());
  EXPECT(becomesHeard(proxy, ""));
  // One within another, and one that is not there.
  EXPECT(!proxy.dataPlane().apply(discovering(9, {place})).empty());
  EXPECT(proxy.dataPlane().apply(discovering(10, {inspector})).empty());
  proxy.expectQuiet();
}

}  // namespace fairlead::test
