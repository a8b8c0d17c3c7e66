// What trees of matchers find of requests, cookies and queries.
#include "route/tree_facts.h"

#include <string>

#include "http/query.h"
#include "route/cookies.h"
#include "test/native/route/fixtures.h"
#include "test/native/test.h"

namespace fairlead {

namespace {

using Kind = plan::MatchInput::Kind;

plan::MatchInput inputOf(Kind kind, std::string name = {}) {
  plan::MatchInput input;
  input.kind = kind;
  input.name = std::move(name);
  return input;
}

std::string textOf(const route::TreeFacts& facts, Kind kind, std::string name = {}) {
  std::string room;
  return std::string(facts.text(inputOf(kind, std::move(name)), &room).value_or("none"));
}

}  // namespace

TEST("Lines of one header are one value, and pseudo headers are headers") {
  test::Request request = test::Request{.path = "/a?b"}.with("x-a", "1").with("x-a", "2");
  const route::RequestView view = request.view();
  const route::TreeFacts facts(view);
  EXPECT_EQ(textOf(facts, Kind::RequestHeader, "x-a"), "1,2");
  EXPECT_EQ(textOf(facts, Kind::RequestHeader, ":path"), "/a?b");
  EXPECT_EQ(textOf(facts, Kind::RequestHeader, "host"), "a.test");
  EXPECT_EQ(textOf(facts, Kind::RequestHeader, "x-b"), "none");
  EXPECT(!facts.lacksSomething());
}

TEST("What is still to come is asked for in vain, and known to be") {
  test::Request request;
  const route::RequestView view = request.view();
  route::TreeFacts facts(view);
  EXPECT_EQ(textOf(facts, Kind::StatusCode), "none");
  EXPECT(facts.lacksSomething());
  route::TreeFacts answered(view);
  answered.status = 503;
  EXPECT_EQ(textOf(answered, Kind::StatusCode), "503");
  EXPECT_EQ(textOf(answered, Kind::StatusClass), "5xx");
  EXPECT(!answered.lacksSomething());
}

TEST("A parameter of a query is the first of its name, with its escapes undone") {
  std::string room;
  EXPECT_EQ(http::queryParameter("a=1&b=x%20y&b=2", "b", &room).value_or("none"), "x y");
  EXPECT_EQ(http::queryParameter("a&b", "a", &room).value_or("none"), "");
  EXPECT_EQ(http::queryParameter("a=%zz%", "a", &room).value_or("none"), "%zz%");
  EXPECT_EQ(http::queryParameter("%61%20b=1&a b=2", "a b", &room).value_or("none"), "1");
  EXPECT(!http::queryParameter("a=1", "c", &room));
}

TEST("A cookie is found in any line, without its quotes") {
  test::Request request = test::Request().with("cookie", "a=b; c=\"d\"").with("cookie", "e=f");
  EXPECT_EQ(route::findCookie(request.headers.map(), "c").value_or("none"), "d");
  EXPECT_EQ(route::findCookie(request.headers.map(), "e").value_or("none"), "f");
  EXPECT(!route::findCookie(request.headers.map(), "b"));
}

}  // namespace fairlead
