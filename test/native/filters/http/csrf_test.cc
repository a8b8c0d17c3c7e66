// Requests that change something, and where they come from.
#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

plan::Update withCsrf(uint16_t port, plan::CsrfPolicy policy) {
  plan::Update plan = httpPlan({port});
  managerOf(plan).http_filters.emplace_back();
  managerOf(plan).http_filters[0].csrf = std::move(policy);
  return plan;
}

plan::CsrfPolicy enforced() {
  plan::CsrfPolicy policy;
  policy.enabled = plan::Share{1'000'000, 0};
  return policy;
}

std::string post(Proxy& proxy, const std::string& headers) {
  Socket client = proxy.connect();
  client.write("POST / HTTP/1.1\r\nhost: a:80\r\ncontent-length: 0\r\n" + headers + "\r\n");
  return client.readMessage();
}

}  // namespace

TEST("A POST must come from a page of its own host") {
  Origin origin(answering("origin"));
  Proxy proxy(withCsrf(origin.port(), enforced()));
  EXPECT(has(post(proxy, "origin: http://a:80\r\n"), "origin"));
  EXPECT(has(post(proxy, "referer: https://a:80/page?x\r\n"), "origin"));
  EXPECT(has(post(proxy, "origin: http://b\r\nreferer: http://a:80/\r\n"), "Invalid origin"));
  EXPECT(has(post(proxy, "origin: http://a:80@b\r\n"), "403"));
  EXPECT(has(post(proxy, "origin: null\r\nreferer: http://a:80/\r\n"), "403"));
  EXPECT(has(post(proxy, ""), "403"));
  EXPECT_EQ(proxy.stat("http.in.csrf.request_valid"), 2u);
  EXPECT_EQ(proxy.stat("http.in.csrf.request_invalid"), 2u);
  EXPECT_EQ(proxy.stat("http.in.csrf.missing_source_origin"), 2u);
}

TEST("What changes nothing may come from anywhere") {
  Origin origin(answering("origin"));
  Proxy proxy(withCsrf(origin.port(), enforced()));
  EXPECT(has(get(proxy, "/", "origin: http://b\r\n"), "origin"));
  EXPECT_EQ(proxy.stat("http.in.csrf.request_invalid"), 0u);
}

TEST("Other origins may be allowed, and the shadow only counts") {
  Origin origin(answering("origin"));
  plan::CsrfPolicy policy = enforced();
  policy.additional_origins.emplace_back();
  policy.additional_origins[0].kind = plan::StringMatch::Kind::Suffix;
  policy.additional_origins[0].value = ".friend";
  Proxy proxy(withCsrf(origin.port(), policy));
  EXPECT(has(post(proxy, "origin: http://my.friend\r\n"), "origin"));
  policy.enabled = plan::Share{0, 0};
  policy.shadow = plan::Share{1'000'000, 0};
  Proxy shadow(withCsrf(origin.port(), std::move(policy)));
  EXPECT(has(post(shadow, "origin: http://b\r\n"), "origin"));
  EXPECT_EQ(shadow.stat("http.in.csrf.request_invalid"), 1u);
}

}  // namespace fairlead::test
