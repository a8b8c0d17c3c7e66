// Locations as the real server writes them; each was seen in its answers.
#include "route/redirect.h"

#include <string>

#include "test/native/route/fixtures.h"
#include "test/native/test.h"

namespace fairlead {

using test::Request;
using RewriteKind = plan::PathRewrite::Kind;

namespace {

std::string locationOf(const plan::Redirect& plan, Request request, plan::RouteMatch match) {
  Arena arena(1024);
  const Result<route::Redirect> redirect = route::Redirect::build(plan);
  const Result<route::Match> built = route::Match::build(match);
  if (!redirect || !built) return "refused";
  return std::string(redirect.value().location(request.view(), built.value(), arena));
}

std::string locationOf(const plan::Redirect& plan, Request request) {
  return locationOf(plan, std::move(request), test::pathMatch(test::PathKind::Prefix, "/r"));
}

plan::Redirect rewriting(std::string prefix) {
  plan::Redirect redirect;
  redirect.path_rewrite =
      plan::PathRewrite{.kind = RewriteKind::Prefix, .value = std::move(prefix)};
  return redirect;
}

}  // namespace

TEST("a redirect keeps what it does not change, the query included") {
  EXPECT_EQ(locationOf({}, {"/r?x"}), "http://a.test/r?x");
  EXPECT_EQ(locationOf({.host = "n.test"}, {"/r/a?b=c", "old.test:8080"}),
            "http://n.test/r/a?b=c");
  EXPECT_EQ(locationOf({.https = true}, {"/r/a%20b"}), "https://a.test/r/a%20b");
  EXPECT_EQ(locationOf({.scheme = "ftp"}, {"/r"}), "ftp://a.test/r");
  EXPECT_EQ(locationOf({.https = true}, {"/r", ""}), "https:///r");
}

TEST("the default port of a scheme that is left goes; another stays") {
  const plan::Redirect https{.https = true};
  EXPECT_EQ(locationOf(https, {"/r", "h.test:80"}), "https://h.test/r");
  EXPECT_EQ(locationOf(https, {"/r", "h.test:443"}), "https://h.test:443/r");
  EXPECT_EQ(locationOf(https, {"/r", "h.test:8080"}), "https://h.test:8080/r");
  EXPECT_EQ(locationOf(https, {"/r", "[::1]:80"}), "https://[::1]/r");
  EXPECT_EQ(locationOf(https, {"/r", "[::1]"}), "https://[::1]/r");
  EXPECT_EQ(locationOf(https, {"/r", "h.test:"}), "https://h.test:/r");
  EXPECT_EQ(locationOf({.scheme = "HTTPS"}, {"/r", "h.test:80"}), "HTTPS://h.test/r");
  const plan::Redirect http{.scheme = "http"};
  EXPECT_EQ(locationOf(http, {.path = "/r", .authority = "h.test:443", .scheme = "https"}),
            "http://h.test/r");
  EXPECT_EQ(locationOf(http, {"/r", "h.test:80"}), "http://h.test:80/r");
}

TEST("a new port takes the place of the request's, but follows a new host as that is") {
  EXPECT_EQ(locationOf({.port = 80}, {"/r", "h.test:8080"}), "http://h.test:80/r");
  EXPECT_EQ(locationOf({.port = 8443}, {"/r", "[::1]:80"}), "http://[::1]:8443/r");
  EXPECT_EQ(locationOf({.https = true, .port = 443}, {"/r"}), "https://a.test:443/r");
  EXPECT_EQ(locationOf({.host = "n.test:8080", .port = 90}, {"/r"}), "http://n.test:8080:90/r");
}

TEST("a new path keeps the request's query unless it has one or strips it") {
  EXPECT_EQ(locationOf({.path = "/p"}, {"/r?k=v"}), "http://a.test/p?k=v");
  EXPECT_EQ(locationOf({.path = "/p", .strip_query = true}, {"/r?k=v"}), "http://a.test/p");
  EXPECT_EQ(locationOf({.path = "/p?z", .strip_query = true}, {"/r?k=v"}), "http://a.test/p?z");
  EXPECT_EQ(locationOf({.path = "noslash"}, {"/r?k"}), "http://a.test/noslash?k");
}

TEST("a prefix is rewritten before the query is stripped") {
  EXPECT_EQ(locationOf(rewriting("/p2"), {"/r/a/b?q"}), "http://a.test/p2/a/b?q");
  EXPECT_EQ(locationOf(rewriting("/q?w=1"), {"/r?k"}), "http://a.test/q?w=1?k");
  plan::Redirect stripping = rewriting("/q?w=1");
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
  plan::Redirect redirect;
  redirect.path_rewrite = plan::PathRewrite{.kind = RewriteKind::Regex};
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
