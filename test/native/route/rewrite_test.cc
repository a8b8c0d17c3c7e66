// Paths and hosts that change on the way up.
#include "route/rewrite.h"

#include <string>

#include "test/native/route/fixtures.h"
#include "test/native/test.h"

namespace fairlead {

using test::PathKind;
using test::pathMatch;
using test::Request;
using HostKind = plan::HostRewrite::Kind;
using RewriteKind = plan::PathRewrite::Kind;

namespace {

std::string rewritten(plan::PathRewrite plan, plan::RouteMatch match, std::string_view path) {
  Arena arena(256);
  const Result<route::Rewrite> rewrite = route::Rewrite::build(plan);
  const Result<route::Match> built = route::Match::build(match);
  if (!rewrite || !built) return "refused";
  test::Request request{.path = std::string(path)};
  return std::string(rewrite.value().apply(request.view(), path, built.value(), arena));
}

plan::PathRewrite byPrefix(std::string value) {
  return {RewriteKind::Prefix, std::move(value), std::nullopt};
}

plan::PathRewrite byRegex(plan::Regex regex, std::string substitution) {
  return {RewriteKind::Regex, "", plan::RegexRewrite{std::move(regex), std::move(substitution)}};
}

plan::HostRewrite hostFrom(HostKind kind, std::string value = {}) {
  return {kind, std::move(value), std::nullopt, false};
}

std::string newHost(plan::HostRewrite plan, Request request, std::string_view host_name = {}) {
  Arena arena(256);
  const Result<route::HostRewrite> rewrite = route::HostRewrite::build(plan);
  if (!rewrite) return "refused";
  return std::string(rewrite.value().apply(request.view(), host_name, arena));
}

std::string forwarded(std::string_view existing, std::string_view host) {
  Arena arena(256);
  return std::string(route::joinForwardedHost(existing, host, arena));
}

}  // namespace

TEST("a prefix rewrite replaces what the route matched and keeps the rest with its query") {
  const plan::RouteMatch prefix = pathMatch(PathKind::Prefix, "/old/");
  EXPECT_EQ(rewritten(byPrefix("/new/"), prefix, "/old/a?b=c"), "/new/a?b=c");
  const plan::RouteMatch bare = pathMatch(PathKind::Prefix, "/bare");
  EXPECT_EQ(rewritten(byPrefix("/"), bare, "/barefoot?q"), "/foot?q");
  EXPECT_EQ(rewritten(byPrefix("/p"), pathMatch(PathKind::Exact, "/exact"), "/exact?q"), "/p?q");
  EXPECT_EQ(rewritten(byPrefix("/s"), pathMatch(PathKind::SeparatedPrefix, "/sep"), "/sep/x"),
            "/s/x");
  plan::RouteMatch any_case = pathMatch(PathKind::Prefix, "/ci");
  any_case.ignore_case = true;
  EXPECT_EQ(rewritten(byPrefix("/x"), any_case, "/CI/Ab"), "/x/Ab");
  plan::RouteMatch regex = pathMatch(PathKind::Regex, "");
  regex.regex = test::beginsWith("/sx");
  EXPECT_EQ(rewritten(byPrefix("/q?z"), regex, "/sxa?b"), "/q?z?b");
  EXPECT_EQ(rewritten({RewriteKind::Full, "/full", std::nullopt}, prefix, "/old/a?b"), "/full?b");
}

TEST("an expression rewrites the path without its query; nothing at all leaves it as it was") {
  const plan::RouteMatch match = pathMatch(PathKind::Prefix, "/rr");
  const plan::PathRewrite rest = byRegex(test::restAfter("/rr"), "\\1");
  EXPECT_EQ(rewritten(rest, match, "/rrabc"), "abc");
  EXPECT_EQ(rewritten(rest, match, "/rr/a?/rr/b"), "/a?/rr/b");
  EXPECT_EQ(rewritten(rest, match, "/rr"), "/rr");
  EXPECT_EQ(rewritten(rest, match, "/rr?q"), "/rr?q");
  EXPECT_EQ(rewritten(byRegex(test::restAfter("/rr"), "\\3"), match, "/rrb?b"), "/rrb?b");
}

TEST("a host comes from the configuration, a header, the chosen host or the path") {
  EXPECT_EQ(newHost(hostFrom(HostKind::Literal, "new.test"), {}), "new.test");
  const plan::HostRewrite header = hostFrom(HostKind::Header, "x-host");
  EXPECT_EQ(newHost(header, Request{}.with("x-host", "n").with("x-host", "m")), "n");
  EXPECT_EQ(newHost(header, Request{}.with("x-host", "")), "");
  EXPECT_EQ(newHost(header, {}), "");
  EXPECT_EQ(newHost(hostFrom(HostKind::Auto), {}, "told.test"), "told.test");
  plan::HostRewrite path = hostFrom(HostKind::PathRegex);
  path.regex = plan::RegexRewrite{test::restAfter("/pr/"), "\\1"};
  EXPECT_EQ(newHost(path, {"/pr/abc?q"}), "abc");
  EXPECT_EQ(newHost(path, {"/pr/"}), "");
}

TEST("x-forwarded-host gains the host unless its last bytes are that host already") {
  EXPECT_EQ(forwarded("", "h.test"), "h.test");
  EXPECT_EQ(forwarded("a", "h.test"), "a,h.test");
  EXPECT_EQ(forwarded("a,h.test", "h.test"), "a,h.test");
  EXPECT_EQ(forwarded("a,h.test,", "h.test"), "a,h.test,");
  EXPECT_EQ(forwarded("a, h.test", "h.test"), "a, h.test,h.test");
  EXPECT_EQ(forwarded("h.test,a", "h.test"), "h.test,a,h.test");
  EXPECT_EQ(forwarded("a", ""), "a");
}

}  // namespace fairlead
