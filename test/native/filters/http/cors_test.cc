// What browsers are told of other origins.
#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

plan::FilterConfig policyFor(const std::string& origin) {
  plan::FilterConfig config;
  config.cors.emplace();
  config.cors->allow_origins.emplace_back();
  config.cors->allow_origins[0].value = origin;
  return config;
}

// A chain of the filter; the first route's policies, the most specific first.
plan::Update withCors(uint16_t port, std::vector<plan::FilterConfig> policies) {
  plan::Update plan = httpPlan({port});
  managerOf(plan).http_filters.emplace_back();
  managerOf(plan).http_filters[0].cors.emplace();
  plan::RouteTable& table = plan.route_tables[0];
  plan::RouteFilter own;
  for (uint32_t i = 0; i < policies.size(); ++i) own.configs.push_back(i);
  table.filter_configs = std::move(policies);
  table.virtual_hosts[0].routes[0].filters = {own};
  return plan;
}

std::string preflight(Proxy& proxy, const std::string& origin, const std::string& more = {}) {
  Socket client = proxy.connect();
  client.write("OPTIONS / HTTP/1.1\r\nhost: a\r\norigin: " + origin +
               "\r\naccess-control-request-method: PUT\r\n" + more + "\r\n");
  return client.readMessage();
}

}  // namespace

TEST("A preflight of an origin that is allowed is answered by the nearest policy that says so") {
  Origin origin(answering("origin"));
  plan::FilterConfig near = policyFor("http://ok");
  near.cors->max_age = "5";
  plan::FilterConfig far = policyFor("http://far");
  far.cors->allow_methods = "*";
  far.cors->max_age = "9";
  far.cors->allow_credentials = true;
  Proxy proxy(withCors(origin.port(), {std::move(near), std::move(far)}));
  const std::string answer = preflight(proxy, "http://ok");
  EXPECT(answer.starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT(has(answer, "access-control-allow-origin: http://ok\r\n"));
  EXPECT(has(answer, "access-control-allow-methods: PUT\r\n"));
  EXPECT(has(answer, "access-control-allow-credentials: true\r\n"));
  EXPECT(has(answer, "access-control-max-age: 5\r\n"));
  EXPECT_EQ(proxy.stat("http.in.cors.origin_valid"), 1u);
  // The list of the nearer policy is the only one that counts.
  EXPECT(has(preflight(proxy, "http://far"), "origin"));
  EXPECT_EQ(proxy.stat("http.in.cors.origin_invalid"), 1u);
  EXPECT_EQ(origin.connections(), 1);
}

TEST("Other preflights are answered without a word of origins where they may not go on") {
  Origin origin(answering("origin"));
  plan::FilterConfig policy = policyFor("http://ok");
  policy.cors->forward_not_matching_preflights = false;
  policy.cors->allow_methods = "GET";
  Proxy proxy(withCors(origin.port(), {std::move(policy)}));
  const std::string answer = preflight(proxy, "http://other");
  EXPECT(answer.starts_with("HTTP/1.1 200 OK\r\n"));
  EXPECT(!has(answer, "access-control-allow-origin"));
  EXPECT(has(answer, "access-control-allow-methods: GET\r\n"));
  EXPECT_EQ(origin.connections(), 0);
}

TEST("A private network is opened to preflights that ask for it") {
  Origin origin(answering("origin"));
  plan::FilterConfig policy = policyFor("http://ok");
  policy.cors->allow_private_network_access = true;
  policy.cors->allow_headers = "*";
  Proxy proxy(withCors(origin.port(), {std::move(policy)}));
  const std::string asked = preflight(proxy, "http://ok",
                                      "access-control-request-private-network: true\r\n"
                                      "access-control-request-headers: x-a\r\n");
  EXPECT(has(asked, "access-control-allow-private-network: true\r\n"));
  EXPECT(has(asked, "access-control-allow-headers: x-a\r\n"));
  const std::string other = preflight(proxy, "http://ok");
  EXPECT(!has(other, "private-network"));
  EXPECT(has(other, "access-control-allow-headers: \r\n"));
}

TEST("Answers of hosts name the origin that may read them, and no other") {
  Origin origin(answering("origin"));
  plan::FilterConfig policy = policyFor("http://ok");
  policy.cors->expose_headers = "x-seen";
  Proxy proxy(withCors(origin.port(), {std::move(policy)}));
  const std::string answer = get(proxy, "/", "origin: http://ok\r\n");
  EXPECT(has(answer, "access-control-allow-origin: http://ok\r\n"));
  EXPECT(has(answer, "access-control-expose-headers: x-seen\r\n"));
  EXPECT(!has(get(proxy, "/", "origin: http://other\r\n"), "access-control"));
  EXPECT(!has(get(proxy, "/"), "access-control"));
  EXPECT_EQ(proxy.stat("http.in.cors.origin_valid"), 1u);
  EXPECT_EQ(proxy.stat("http.in.cors.origin_invalid"), 1u);
}

TEST("A policy in the shadow counts and changes nothing; one that is off does neither") {
  Origin origin(answering("origin"));
  plan::FilterConfig policy = policyFor("http://ok");
  policy.cors->enabled = plan::Share{0, 0};
  plan::FilterConfig off = policy;
  policy.cors->shadow = plan::Share{1'000'000, 0};
  Proxy shadow(withCors(origin.port(), {std::move(policy)}));
  EXPECT(!has(get(shadow, "/", "origin: http://ok\r\n"), "access-control"));
  EXPECT_EQ(shadow.stat("http.in.cors.origin_valid"), 1u);
  Proxy none(withCors(origin.port(), {std::move(off)}));
  EXPECT(!has(get(none, "/", "origin: http://ok\r\n"), "access-control"));
  EXPECT_EQ(none.stat("http.in.cors.origin_valid"), 0u);
}

}  // namespace fairlead::test
