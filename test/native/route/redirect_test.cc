// Locations as the real server writes them; each was seen in its answers.
#include "route/redirect.h"

#include <string>

#include "test/native/route/fixtures.h"
#include "test/native/test.h"

namespace fairlead {

using test::Request;
using Plan = plan::Redirect;
using RewriteKind = plan::PathRewrite::Kind;

namespace {

std::string locationOf(const Plan& plan, Request request, plan::RouteMatch match) {
  Arena arena(1024);
  const Result<route::Redirect> redirect = route::Redirect::build(plan);
  const Result<route::Match> built = route::Match::build(match);
  if (!redirect || !built) return "refused";
  return std::string(redirect.value().location(request.view(), built.value(), arena));
}

std::string locationOf(const Plan& plan, Request request) {
  return locationOf(plan, std::move(request), test::pathMatch(test::PathKind::Prefix, "/r"));
}

template <typename Change>
Plan with(Change change) {
  return test::made<Plan>(change);
}

const Plan kHttps = with([](Plan& it) { it.https = true; });

Plan toScheme(std::string scheme) {
  return with([&](Plan& it) { it.scheme = std::move(scheme); });
}

Plan toPort(uint32_t port) {
  return with([&](Plan& it) { it.port = port; });
}

Plan rewriting(std::string prefix) {
  Plan redirect;
  redirect.path_rewrite = plan::PathRewrite{RewriteKind::Prefix, std::move(prefix), std::nullopt};
  return redirect;
}

}  // namespace

TEST("a redirect keeps what it does not change, the query included") {
  EXPECT_EQ(locationOf({}, {"/r?x"}), "http://a.test/r?x");
  const Plan host = with([](Plan& it) { it.host = "n.test"; });
  EXPECT_EQ(locationOf(host, {"/r/a?b=c", "old.test:8080"}), "http://n.test/r/a?b=c");
  EXPECT_EQ(locationOf(kHttps, {"/r/a%20b"}), "https://a.test/r/a%20b");
  EXPECT_EQ(locationOf(kHttps, {"/r", ""}), "https:///r");
  EXPECT_EQ(locationOf(toScheme("ftp"), {"/r"}), "ftp://a.test/r");
}

TEST("the default port of a scheme that is left goes; another stays") {
  EXPECT_EQ(locationOf(kHttps, {"/r", "h.test:80"}), "https://h.test/r");
  EXPECT_EQ(locationOf(kHttps, {"/r", "h.test:443"}), "https://h.test:443/r");
  EXPECT_EQ(locationOf(kHttps, {"/r", "h.test:8080"}), "https://h.test:8080/r");
  EXPECT_EQ(locationOf(kHttps, {"/r", "[::1]:80"}), "https://[::1]/r");
  EXPECT_EQ(locationOf(kHttps, {"/r", "[::1]"}), "https://[::1]/r");
  EXPECT_EQ(locationOf(kHttps, {"/r", "h.test:"}), "https://h.test:/r");
  EXPECT_EQ(locationOf(toScheme("HTTPS"), {"/r", "h.test:80"}), "HTTPS://h.test/r");
  EXPECT_EQ(locationOf(toScheme("http"), {"/r", "h.test:443", "GET", "https"}), "http://h.test/r");
  EXPECT_EQ(locationOf(toScheme("http"), {"/r", "h.test:80"}), "http://h.test:80/r");
}

TEST("a new port takes the place of the request's, but follows a new host as that is") {
  EXPECT_EQ(locationOf(toPort(80), {"/r", "h.test:8080"}), "http://h.test:80/r");
  EXPECT_EQ(locationOf(toPort(8443), {"/r", "[::1]:80"}), "http://[::1]:8443/r");
  Plan redirect = toPort(443);
  redirect.https = true;
  EXPECT_EQ(locationOf(redirect, {"/r"}), "https://a.test:443/r");
  redirect = toPort(90);
  redirect.host = "n.test:8080";
  EXPECT_EQ(locationOf(redirect, {"/r"}), "http://n.test:8080:90/r");
}

TEST("a new path keeps the request's query unless it has one or strips it; a slash is added") {
  Plan redirect = with([](Plan& it) { it.path = "/p"; });
  EXPECT_EQ(locationOf(redirect, {"/r?k=v"}), "http://a.test/p?k=v");
  redirect.strip_query = true;
  EXPECT_EQ(locationOf(redirect, {"/r?k=v"}), "http://a.test/p");
  redirect.path = "/p?z";
  EXPECT_EQ(locationOf(redirect, {"/r?k=v"}), "http://a.test/p?z");
  const Plan slashless = with([](Plan& it) { it.path = "noslash"; });
  EXPECT_EQ(locationOf(slashless, {"/r?k"}), "http://a.test/noslash?k");
}

TEST("a prefix is rewritten before the query is stripped") {
  EXPECT_EQ(locationOf(rewriting("/p2"), {"/r/a/b?q"}), "http://a.test/p2/a/b?q");
  EXPECT_EQ(locationOf(rewriting("/q?w=1"), {"/r?k"}), "http://a.test/q?w=1?k");
  Plan stripping = rewriting("/q?w=1");
  stripping.strip_query = true;
  EXPECT_EQ(locationOf(stripping, {"/r/x?k"}), "http://a.test/q");
}

TEST("a prefix rewrite replaces all that an expression matched, and a separated prefix alone") {
  plan::RouteMatch regex = test::pathMatch(test::PathKind::Regex, "");
  regex.regex = test::beginsWith("/sr");
  EXPECT_EQ(locationOf(rewriting("/w"), {"/srx?q=1"}, regex), "http://a.test/w?q=1");
  const plan::RouteMatch separated = test::pathMatch(test::PathKind::SeparatedPrefix, "/sep");
  EXPECT_EQ(locationOf(rewriting("/w"), {"/sep/a?q"}, separated), "http://a.test/w/a?q");
}

TEST("an expression rewrites the path alone; a rewrite to nothing leaves it") {
  Plan redirect;
  redirect.path_rewrite = plan::PathRewrite{RewriteKind::Regex, "", std::nullopt};
  redirect.path_rewrite->regex = plan::RegexRewrite{test::restAfter("/r1"), "\\1"};
  EXPECT_EQ(locationOf(redirect, {"/r1abc?q"}), "http://a.test/abc?q");
  EXPECT_EQ(locationOf(redirect, {"/r1?q"}), "http://a.test/r1?q");
  redirect.strip_query = true;
  EXPECT_EQ(locationOf(redirect, {"/r1?q"}), "http://a.test/r1");
}

TEST("a virtual host that requires TLS keeps host and port") {
  Arena arena(256);
  Request request{"/a?b", "ALL.test:81"};
  EXPECT_EQ(route::tlsLocation(request.view(), arena), "https://ALL.test:81/a?b");
  EXPECT_EQ(route::ownLocation(request.view(), arena), "http://ALL.test:81/a?b");
}

}  // namespace fairlead
