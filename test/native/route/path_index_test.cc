// The index must choose what trying all routes in their order would choose.
#include "route/path_index.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"
#include "test/native/route/fixtures.h"
#include "test/native/test.h"

namespace fairlead {

using test::namedRoute;
using test::PathKind;
using test::pathMatch;
using test::Request;

namespace {

class Table {
 public:
  explicit Table(std::vector<plan::Route> routes) {
    plan::RouteTable plan;
    plan.virtual_hosts.push_back(test::virtualHost({"*"}, std::move(routes)));
    Result<std::shared_ptr<const route::RouteTable>> built =
        route::RouteTable::build(plan, test::someClusters());
    if (built) table_ = built.value();
  }
  // The name of the route that takes the request; empty: none.
  std::string choose(Request request) const {
    const route::Route* route = table_->match(request.view()).route;
    return route ? route->name : "";
  }
  std::string choose(std::string path) const { return choose(Request{std::move(path)}); }

 private:
  std::shared_ptr<const route::RouteTable> table_;
};

plan::Route exact(std::string path) { return namedRoute(path, pathMatch(PathKind::Exact, path)); }
plan::Route prefix(std::string path) {
  return namedRoute(path + "*", pathMatch(PathKind::Prefix, path));
}
plan::Route separated(std::string path) {
  return namedRoute(path + "/**", pathMatch(PathKind::SeparatedPrefix, path));
}

struct Dice {
  uint64_t state;
  size_t below(size_t bound) {
    state = state * 6364136223846793005 + 1442695040888963407;
    return static_cast<size_t>((state >> 33) % bound);
  }
};

std::string randomPath(Dice& dice) {
  static const char* const kPieces[] = {"/", "/a", "/b", "/ab", "/A", "a", "B", "//", "/abc", "x"};
  std::string path;
  for (size_t i = dice.below(5); i > 0; --i) path += kPieces[dice.below(std::size(kPieces))];
  return path;
}

plan::Route randomRoute(Dice& dice, size_t number) {
  static constexpr PathKind kKinds[] = {PathKind::Prefix, PathKind::Exact,
                                        PathKind::SeparatedPrefix, PathKind::Regex};
  plan::RouteMatch match = pathMatch(kKinds[dice.below(std::size(kKinds))], randomPath(dice));
  if (match.path_kind == PathKind::Regex) match.regex = test::beginsWith(match.path);
  match.ignore_case = match.path_kind != PathKind::Regex && dice.below(4) == 0;
  if (dice.below(4) == 0) {
    plan::HeaderMatch header;
    header.name = "x-h";
    header.present = dice.below(2) == 0;
    match.headers.push_back(header);
  }
  return namedRoute(std::to_string(number), match);
}

bool fitsNaively(const plan::RouteMatch& match, std::string_view target, bool has_header) {
  for (const plan::HeaderMatch& header : match.headers) {
    if (header.present != has_header) return false;
  }
  const std::string_view path = target.substr(0, target.find('?'));
  const std::string_view start = path.substr(0, match.path.size());
  const bool begins = match.ignore_case ? equalsIgnoreCase(start, match.path) : start == match.path;
  if (!begins) return false;
  if (match.path_kind == PathKind::Exact) return path.size() == match.path.size();
  if (match.path_kind == PathKind::SeparatedPrefix) {
    return path.size() == match.path.size() || path[match.path.size()] == '/';
  }
  return true;
}

}  // namespace

TEST("routes are tried in their order: an early prefix hides a later, longer path") {
  const Table table({exact("/a/b"), prefix("/a"), exact("/a/c"), prefix("/")});
  EXPECT_EQ(table.choose("/a/b"), "/a/b");
  EXPECT_EQ(table.choose("/a/c"), "/a*");
  EXPECT_EQ(table.choose("/b"), "/*");
}

TEST("an exact path and a prefix do not see the query, and a separated prefix ends at a slash") {
  const Table table({exact("/exact"), prefix("/pre/"), separated("/sep")});
  EXPECT_EQ(table.choose("/exact?q=/pre/"), "/exact");
  EXPECT_EQ(table.choose("/exact/"), "");
  EXPECT_EQ(table.choose("/pre/x?y"), "/pre/*");
  EXPECT_EQ(table.choose("/sep"), "/sep/**");
  EXPECT_EQ(table.choose("/sep/x"), "/sep/**");
  EXPECT_EQ(table.choose("/sep?x"), "/sep/**");
  EXPECT_EQ(table.choose("/separate"), "");
}

TEST("a prefix or a path with a question mark takes nothing") {
  const Table table({prefix("/a?b"), exact("/e?b"), prefix("/")});
  EXPECT_EQ(table.choose("/a?b"), "/*");
  EXPECT_EQ(table.choose("/a?bc"), "/*");
  EXPECT_EQ(table.choose("/e?b"), "/*");
}

TEST("the case of a path counts unless the route says otherwise") {
  plan::Route any = prefix("/Lower");
  any.match->ignore_case = true;
  const Table table({prefix("/Upper"), any});
  EXPECT_EQ(table.choose("/upper"), "");
  EXPECT_EQ(table.choose("/Upper/x"), "/Upper*");
  EXPECT_EQ(table.choose("/lOWER/x"), "/Lower*");
}

TEST("an empty prefix takes every path, and \"*\" is a path like any other") {
  EXPECT_EQ(Table({prefix("")}).choose("/a"), "*");
  EXPECT_EQ(Table({prefix("/")}).choose("*"), "");
}

TEST("a regular expression between paths keeps its place in the order") {
  plan::RouteMatch match = pathMatch(PathKind::Regex, "");
  match.regex = test::beginsWith("/a/");
  const Table table({exact("/a/first"), namedRoute("regex", match), exact("/a/last"), prefix("/")});
  EXPECT_EQ(table.choose("/a/first"), "/a/first");
  EXPECT_EQ(table.choose("/a/last"), "regex");
  EXPECT_EQ(table.choose("/b"), "/*");
}

TEST("a CONNECT without a path goes past prefixes to the route that asks for it") {
  const Table table(
      {prefix("/"), prefix(""), namedRoute("connect", pathMatch(PathKind::Connect, ""))});
  EXPECT_EQ(table.choose(Request{.path = "", .authority = "a.test:80", .method = "CONNECT"}),
            "connect");
  EXPECT_EQ(table.choose(Request{.path = "", .method = "GET"}), "");
  EXPECT_EQ(table.choose(Request{.path = "/x"}), "/*");
}

TEST("routes of one path are told apart by what else they ask, in their order") {
  plan::Route first = prefix("/a");
  first.name = "with header";
  first.match->headers.emplace_back();
  first.match->headers[0].name = "x-h";
  first.match->headers[0].present = true;
  const Table table({first, prefix("/a")});
  EXPECT_EQ(table.choose("/a"), "/a*");
  EXPECT_EQ(table.choose(Request{"/a"}.with("x-h", "1")), "with header");
}

TEST("random tables choose as a linear search does, 400 tables with 40 requests each") {
  Dice dice{20261121};
  int differences = 0;
  for (int round = 0; round < 400; ++round) {
    std::vector<plan::Route> routes;
    for (size_t i = dice.below(40); i > 0; --i) routes.push_back(randomRoute(dice, routes.size()));
    const Table table(routes);
    for (int i = 0; i < 40; ++i) {
      Request request{.path = "/" + randomPath(dice) + (dice.below(3) == 0 ? "?/a" : "")};
      const bool has_header = dice.below(2) == 0;
      if (has_header) request.headers.add("x-h", "1");
      const auto wanted = std::find_if(routes.begin(), routes.end(), [&](const plan::Route& route) {
        return fitsNaively(*route.match, request.path, has_header);
      });
      const std::string name = wanted == routes.end() ? "" : wanted->name;
      if (table.choose(std::move(request)) != name) ++differences;
    }
  }
  EXPECT_EQ(differences, 0);
}

}  // namespace fairlead
