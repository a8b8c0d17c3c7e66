// Names and passwords.
#include "base/base64.h"
#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

// SHA-1 of "test1".
std::string hashOfTest1() {
  std::string hash;
  decodeBase64("tESsBmE/yNY3lb6a0L6vVQEZNqw=", &hash);
  return hash;
}

plan::Update withBasicAuth(uint16_t port, bool allow_missing = false) {
  plan::BasicAuth auth;
  auth.users.emplace();
  auth.users->users.push_back({"user1", hashOfTest1()});
  auth.authentication_header = "authorization";
  auth.forward_username_header = "x-user";
  auth.allow_missing = allow_missing;
  plan::Update plan = httpPlan({port});
  managerOf(plan).http_filters.emplace_back();
  managerOf(plan).http_filters[0].basic_auth = std::move(auth);
  return plan;
}

// The client's, as hosts see it.
std::string seenOf(std::string credentials, bool allow_missing = false) {
  Origin origin(answering("origin"));
  Proxy proxy(withBasicAuth(origin.port(), allow_missing));
  return get(proxy, "/path?q", credentials);
}

}  // namespace

TEST("The right password opens, and hosts hear the name that was proved") {
  Origin origin(answering("origin"));
  Proxy proxy(withBasicAuth(origin.port()));
  const std::string answer =
      get(proxy, "/", "x-user: spoof\r\nauthorization: Basic dXNlcjE6dGVzdDE=\r\n");
  EXPECT(has(answer, "origin"));
  EXPECT_EQ(proxy.stat("http.in.basic_auth.allowed"), 1u);
  EXPECT_EQ(proxy.stat("http.in.basic_auth.denied"), 0u);
}

TEST("Who has none, or a wrong one, is challenged for this URL") {
  const std::string missing = seenOf("");
  EXPECT(missing.starts_with("HTTP/1.1 401 Unauthorized\r\n"));
  EXPECT(has(missing, "www-authenticate: Basic realm=\"http://a/path?q\"\r\n"));
  EXPECT(has(missing, "Missing username and password."));
  EXPECT(has(seenOf("authorization: Basic dXNlcjE6dGVzdDI=\r\n"),
             "Invalid username/password combination."));
  EXPECT(has(seenOf("authorization: basic dXNlcjE6dGVzdDE=\r\n"),
             "Expected 'Basic' authentication scheme."));
  for (const char* odd : {"!!!", "dXNlcjE=", "dXNlcjE6dGVzdDE=="}) {
    const std::string answer = seenOf("authorization: Basic " + std::string(odd) + "\r\n");
    EXPECT(has(answer, "Invalid basic credential format."));
  }
}

TEST("Requests without credentials may go on, those with wrong ones never") {
  EXPECT(has(seenOf("", true), "origin"));
  EXPECT(has(seenOf("authorization: Bearer x\r\n", true), "origin"));
  EXPECT(has(seenOf("authorization: Basic dXNlcjE6dGVzdDI=\r\n", true), "401"));
}

}  // namespace fairlead::test
