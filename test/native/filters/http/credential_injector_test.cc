// Credentials of the proxy's own, for hosts.
#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

plan::CredentialInjector bearing(const std::string& credential) {
  plan::CredentialInjector injector;
  injector.header = "authorization";
  injector.prefix = "Bearer ";
  injector.credential.emplace().id = 7;
  injector.credential->value = credential;
  return injector;
}

plan::Update withInjector(uint16_t port, plan::CredentialInjector injector) {
  plan::Update plan = httpPlan({port});
  managerOf(plan).http_filters.emplace_back().credential_injector = std::move(injector);
  return plan;
}

}  // namespace

TEST("Hosts get the proxy's credential where a request has none of its own") {
  Origin origin(repeatRequests);
  Proxy proxy(withInjector(origin.port(), bearing("secret")));
  EXPECT(has(get(proxy, "/"), "authorization: Bearer secret\r\n"));
  EXPECT_EQ(proxy.stat("http.in.credential_injector.injected"), 1u);
  const std::string own = get(proxy, "/", "Authorization: Basic bWU=\r\n");
  EXPECT(has(own, "authorization: Basic bWU=\r\n"));
  EXPECT(!has(own, "secret"));
  // One that is empty is one, too.
  EXPECT(!has(get(proxy, "/", "authorization:\r\n"), "secret"));
  EXPECT_EQ(proxy.stat("http.in.credential_injector.already_exists"), 2u);
  EXPECT_EQ(proxy.stat("http.in.credential_injector.injected"), 1u);
}

TEST("One that overwrites leaves nothing of what the client said, in however many lines") {
  Origin origin(repeatRequests);
  plan::CredentialInjector injector = bearing("secret");
  injector.overwrites = true;
  Proxy proxy(withInjector(origin.port(), injector));
  const std::string answer =
      get(proxy, "/", "AUTHORIZATION: one\r\nx-a: b\r\nauthorization: two\r\n");
  EXPECT(has(answer, "authorization: Bearer secret\r\n"));
  EXPECT(has(answer, "x-a: b\r\n"));
  EXPECT(!has(answer, "one\r\n"));
  EXPECT(!has(answer, "two\r\n"));
  EXPECT_EQ(proxy.stat("http.in.credential_injector.injected"), 1u);
}

TEST("Without a credential requests are refused, or go on as they are where that is allowed") {
  for (const bool allows : {false, true}) {
    Origin origin(repeatRequests);
    plan::CredentialInjector injector = bearing("");
    injector.allows_without = allows;
    injector.overwrites = true;
    Proxy proxy(withInjector(origin.port(), injector));
    const std::string answer = get(proxy, "/", "authorization: mine\r\n");
    EXPECT_EQ(proxy.stat("http.in.credential_injector.failed"), 1u);
    EXPECT_EQ(proxy.stat("http.in.credential_injector.injected"), 0u);
    EXPECT_EQ(has(answer, "authorization: mine\r\n"), allows);
    if (allows) continue;
    EXPECT(answer.starts_with("HTTP/1.1 401 Unauthorized\r\n"));
    EXPECT(answer.ends_with("Failed to inject credential."));
    EXPECT_EQ(origin.connections(), 0);
  }
}

TEST("A credential that is replaced is used from then on, and one that is taken back is not") {
  Origin origin(repeatRequests);
  Proxy proxy(withInjector(origin.port(), bearing("")));
  EXPECT(has(get(proxy, "/"), " 401 "));
  for (const char* value : {"first", "second", ""}) {
    plan::Update update;
    update.secrets.push_back({7, value});
    EXPECT(proxy.dataPlane().apply(update).empty());
    const std::string wanted =
        *value ? "authorization: Bearer " + std::string(value) + "\r\n" : " 401 ";
    EXPECT(proxy.waitUntil([&] { return has(get(proxy, "/"), wanted); }));
  }
}

TEST("A header of any name may bear it, without anything before it") {
  Origin origin(repeatRequests);
  plan::CredentialInjector injector = bearing("a b,c");
  injector.header = "x-own-key";
  injector.prefix = "";
  Proxy proxy(withInjector(origin.port(), injector));
  EXPECT(has(get(proxy, "/"), "x-own-key: a b,c\r\n"));
}

}  // namespace fairlead::test
