// Requests that are told which lists of addresses their client is in.
#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

plan::IpTag tagOf(const std::string& name, const std::string& ip, uint32_t bits) {
  plan::IpTag tag;
  tag.name = name;
  tag.ranges.push_back({ip, bits});
  return tag;
}

// Clients of 10.0.0.0/8 and of 10.1.0.0/16, which are of this network, and of 2001:db8::/32 and
// 8.8.8.0/24, which are not.
plan::IpTagging someTags() {
  plan::IpTagging tagging;
  tagging.tags = {tagOf("wide", std::string("\x0a\0\0\0", 4), 8),
                  tagOf("narrow", std::string("\x0a\1\0\0", 4), 16),
                  tagOf("six", std::string("\x20\x01\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0\0", 16), 32),
                  tagOf("far", std::string("\x08\x08\x08\0", 4), 24)};
  return tagging;
}

plan::Update withTags(uint16_t port, plan::IpTagging tagging) {
  plan::Update plan = httpPlan({port});
  managerOf(plan).http_filters.emplace_back().ip_tagging = std::move(tagging);
  managerOf(plan).internal_addresses.push_back({std::string("\x0a\0\0\0", 4), 8});
  return plan;
}

std::string from(Proxy& proxy, const std::string& address, const std::string& lines = {}) {
  return get(proxy, "/", "x-forwarded-for: " + address + "\r\n" + lines);
}

}  // namespace

TEST("Tags are those of all lists that have the client's address, and are counted") {
  Origin origin(repeatRequests);
  Proxy proxy(withTags(origin.port(), someTags()));
  EXPECT(has(from(proxy, "10.1.2.3"), "x-envoy-ip-tags: narrow,wide\r\n"));
  EXPECT(has(from(proxy, "10.255.255.255"), "x-envoy-ip-tags: wide\r\n"));
  EXPECT(has(from(proxy, "2001:db8:ffff::1"), "x-envoy-ip-tags: six\r\n"));
  for (const char* elsewhere : {"11.0.0.0", "9.255.255.255", "8.8.9.1", "2001:db9::", "::1"}) {
    EXPECT(!has(from(proxy, elsewhere), "x-envoy-ip-tags"));
  }
  EXPECT_EQ(proxy.stat("http.in.ip_tagging.total"), 8u);
  EXPECT_EQ(proxy.stat("http.in.ip_tagging.no_hit"), 5u);
  EXPECT_EQ(proxy.stat("http.in.ip_tagging.wide.hit"), 2u);
  EXPECT_EQ(proxy.stat("http.in.ip_tagging.narrow.hit"), 1u);
  EXPECT_EQ(proxy.stat("http.in.ip_tagging.six.hit"), 1u);
  EXPECT_EQ(proxy.stat("http.in.ip_tagging.far.hit"), 0u);
}

TEST("Nobody outside says its tags; a proxy of ours does, and ours are added") {
  Origin origin(repeatRequests);
  Proxy proxy(withTags(origin.port(), someTags()));
  const std::string claim = "x-envoy-ip-tags: claimed\r\n";
  const std::string outside = from(proxy, "8.8.8.8", claim);
  EXPECT(has(outside, "x-envoy-ip-tags: far\r\n"));
  EXPECT(!has(outside, "claimed"));
  EXPECT(has(from(proxy, "10.0.0.1", claim), "x-envoy-ip-tags: claimed,wide\r\n"));
}

TEST("Requests of this network alone are asked about, or those from outside") {
  for (const bool internal : {false, true}) {
    Origin origin(repeatRequests);
    plan::IpTagging tagging = someTags();
    tagging.requests =
        internal ? plan::IpTagging::Requests::Internal : plan::IpTagging::Requests::External;
    Proxy proxy(withTags(origin.port(), tagging));
    EXPECT_EQ(has(from(proxy, "10.0.0.1"), "x-envoy-ip-tags"), internal);
    EXPECT_EQ(has(from(proxy, "8.8.8.8"), "x-envoy-ip-tags"), !internal);
    EXPECT_EQ(proxy.stat("http.in.ip_tagging.total"), 1u);
  }
}

TEST("A header of its own is replaced, also where there is no tag, or added to") {
  for (const bool appends : {false, true}) {
    Origin origin(repeatRequests);
    plan::IpTagging tagging = someTags();
    tagging.header = "x-tags";
    tagging.appends = appends;
    Proxy proxy(withTags(origin.port(), tagging));
    const std::string claim = "X-Tags: claimed\r\nx-tags: twice\r\n";
    const std::string hit = from(proxy, "10.0.0.1", claim);
    EXPECT_EQ(has(hit, "x-tags: wide\r\n"), !appends);
    EXPECT_EQ(has(hit, "x-tags: claimed,wide\r\n"), appends);
    EXPECT_EQ(has(hit, "x-tags: twice\r\n"), appends);
    EXPECT_EQ(has(from(proxy, "9.9.9.9", claim), "claimed"), appends);
    EXPECT(!has(hit, "x-envoy-ip-tags"));
  }
}

TEST("The route is found again by what is told") {
  Origin origin(repeatRequests);
  plan::IpTagging tagging = someTags();
  tagging.header = "x-tags";
  plan::Update plan = withTags(origin.port(), tagging);
  auto& routes = plan.route_tables[0].virtual_hosts[0].routes;
  plan::Route tagged;
  tagged.match.emplace().path = "/";
  plan::HeaderMatch& match = tagged.match->headers.emplace_back();
  match.name = "x-tags";
  match.kind = plan::HeaderMatch::Kind::Present;
  match.present = true;
  tagged.direct_response.emplace().status = 418;
  routes.insert(routes.begin(), std::move(tagged));
  Proxy proxy(plan);
  EXPECT(has(from(proxy, "10.0.0.1"), " 418 "));
  EXPECT(has(from(proxy, "9.9.9.9"), " 200 "));
  // Who claims a tag has lost it before a route is found by it.
  EXPECT(has(from(proxy, "9.9.9.9", "x-tags: wide\r\n"), " 200 "));
}

}  // namespace fairlead::test
