// Conditions of a route beside its path, with what the real server does about each.
#include "route/match.h"

#include <string>

#include "test/native/route/fixtures.h"
#include "test/native/test.h"

namespace fairlead {

using test::Request;
using HeaderKind = plan::HeaderMatch::Kind;
using StringKind = plan::StringMatch::Kind;

namespace {

bool fits(const plan::RouteMatch& plan, Request request) {
  const Result<route::Match> match = route::Match::build(plan);
  const route::RequestView view = request.view();
  return match && match.value().matches(view, view.pathOnly());
}

bool headerFits(const plan::HeaderMatch& header, Request request) {
  plan::RouteMatch match = test::pathMatch(test::PathKind::Prefix, "/");
  match.headers.push_back(header);
  return fits(match, std::move(request));
}

plan::HeaderMatch textMatch(StringKind kind, std::string value) {
  return test::made<plan::HeaderMatch>([&](plan::HeaderMatch& header) {
    header.name = "x-i";
    header.kind = HeaderKind::String;
    header.string_match = plan::StringMatch{kind, std::move(value), false, std::nullopt};
  });
}

plan::HeaderMatch rangeMatch(int64_t start, int64_t end) {
  return test::made<plan::HeaderMatch>([&](plan::HeaderMatch& header) {
    header.name = "x-i";
    header.kind = HeaderKind::Range;
    header.range_start = start;
    header.range_end = end;
  });
}

Request withHeader(std::string value) { return Request{}.with("x-i", std::move(value)); }

bool queryFits(std::string name, std::optional<std::string> value, std::string path) {
  plan::RouteMatch match = test::pathMatch(test::PathKind::Prefix, "/");
  plan::QueryMatch query{std::move(name), std::nullopt};
  if (value) query.string_match = plan::StringMatch{StringKind::Exact, *value, false, std::nullopt};
  match.query_parameters.push_back(query);
  return fits(match, Request{std::move(path)});
}

}  // namespace

TEST("a header's text is compared whole, at its start, at its end, inside, or by an expression") {
  EXPECT(headerFits(textMatch(StringKind::Exact, "one"), withHeader("one")));
  EXPECT(!headerFits(textMatch(StringKind::Exact, "one"), withHeader("One")));
  EXPECT(headerFits(textMatch(StringKind::Prefix, "ab"), withHeader("abc")));
  EXPECT(headerFits(textMatch(StringKind::Suffix, "yz"), withHeader("xyz")));
  EXPECT(headerFits(textMatch(StringKind::Contains, "mid"), withHeader("a-mid-b")));
  plan::HeaderMatch regex = textMatch(StringKind::Regex, "");
  regex.string_match->regex = test::beginsWith("v1");
  EXPECT(headerFits(regex, withHeader("v12")));
  EXPECT(!headerFits(regex, withHeader("xv12")));
  plan::HeaderMatch any_case = textMatch(StringKind::Exact, "one");
  any_case.string_match->ignore_case = true;
  EXPECT(headerFits(any_case, withHeader("oNE")));
}

TEST("of several headers of one name any may fit, each for itself") {
  EXPECT(headerFits(textMatch(StringKind::Exact, "two"), withHeader("one").with("x-i", "two")));
  EXPECT(
      !headerFits(textMatch(StringKind::Exact, "one,two"), withHeader("one").with("x-i", "two")));
}

TEST("a missing header fits nothing, not even the inverted condition on its value") {
  plan::HeaderMatch inverted = textMatch(StringKind::Exact, "v");
  inverted.invert = true;
  EXPECT(!headerFits(inverted, Request{}));
  EXPECT(!headerFits(inverted, withHeader("v")));
  EXPECT(headerFits(inverted, withHeader("w")));
  EXPECT(headerFits(inverted, withHeader("")));
  plan::HeaderMatch range = rangeMatch(1, 10);
  range.invert = true;
  EXPECT(!headerFits(range, Request{}));
  EXPECT(headerFits(range, withHeader("5,6")));
}

TEST("a missing header that counts as empty is compared as empty") {
  plan::HeaderMatch match = textMatch(StringKind::Exact, "");
  EXPECT(!headerFits(match, Request{}));
  EXPECT(headerFits(match, withHeader("")));
  match.treat_missing_as_empty = true;
  EXPECT(headerFits(match, Request{}));
  EXPECT(!headerFits(match, withHeader("a")));
}

TEST("presence and absence are told apart, also inverted and with missing as empty") {
  const auto presence = [](bool present, bool invert, bool missing_is_empty, Request request) {
    plan::HeaderMatch match;
    match.name = "x-i";
    match.present = present;
    match.invert = invert;
    match.treat_missing_as_empty = missing_is_empty;
    return headerFits(match, std::move(request));
  };
  EXPECT(presence(true, false, false, withHeader("")));
  EXPECT(!presence(true, false, false, Request{}));
  EXPECT(presence(false, false, false, Request{}));
  EXPECT(!presence(false, false, false, withHeader("a")));
  EXPECT(presence(false, true, false, withHeader("a")));
  EXPECT(!presence(false, true, false, Request{}));
  EXPECT(presence(true, true, false, Request{}));
  EXPECT(presence(true, false, true, Request{}));
  EXPECT(!presence(false, false, true, Request{}));
}

TEST("a number is in a range from its start to below its end; a plus and zeros do no harm") {
  for (const char* value : {"1", "9", "+5", "05", " 5 "}) {
    EXPECT(headerFits(rangeMatch(1, 10), withHeader(value)));
  }
  for (const char* value : {"10", "-1", "0x5", "5.0", "", "+", "+-5", "9223372036854775808"}) {
    EXPECT(!headerFits(rangeMatch(1, 10), withHeader(value)));
  }
  EXPECT(headerFits(rangeMatch(-5, 0), withHeader("-5")));
}

TEST("pseudo headers are matched like headers, and \"host\" is the authority") {
  plan::HeaderMatch match = textMatch(StringKind::Exact, "PUT");
  match.name = ":method";
  EXPECT(headerFits(match, Request{.method = "PUT"}));
  EXPECT(!headerFits(match, Request{}));
  match.string_match->value = "special.test";
  for (const char* name : {":authority", "host"}) {
    match.name = name;
    EXPECT(headerFits(match, Request{.authority = "special.test"}));
  }
  match.name = ":nothing";
  EXPECT(!headerFits(match, Request{}));
}

TEST("the first query parameter of a name decides, as it was sent") {
  EXPECT(queryFits("a", "one", "/?a=one"));
  EXPECT(!queryFits("a", "one", "/?a=two&a=one"));
  EXPECT(queryFits("a", "one", "/?a=one&a=two"));
  EXPECT(!queryFits("a", "one", "/?a=%6Fne"));
  EXPECT(!queryFits("a", "one", "/?A=one"));
  EXPECT(queryFits("a", "", "/?a="));
  EXPECT(queryFits("a", "", "/?x&a"));
  EXPECT(queryFits("a", std::nullopt, "/?&a"));
  EXPECT(queryFits("a", std::nullopt, "/?a=1?"));
  EXPECT(!queryFits("a", std::nullopt, "/?b&"));
  EXPECT(!queryFits("a", std::nullopt, "/a"));
}

TEST("gRPC is known by its content type, exactly or with a plus") {
  plan::RouteMatch match = test::pathMatch(test::PathKind::Prefix, "/");
  match.grpc = true;
  const auto type = [&](std::string value) {
    return fits(match, Request{}.with("content-type", std::move(value)));
  };
  EXPECT(type("application/grpc"));
  EXPECT(type("application/grpc+proto"));
  EXPECT(!type("application/grpc-web"));
  EXPECT(!type("application/grpc;x"));
  EXPECT(!type("Application/grpc"));
  EXPECT(!fits(match, Request{}));
}

TEST("a share of requests is taken by chance, none at 0 and all at a million") {
  plan::RouteMatch match = test::pathMatch(test::PathKind::Prefix, "/");
  const auto taken = [&](uint32_t share) {
    match.runtime_fraction_millionths = share;
    int count = 0;
    for (uint64_t i = 0; i < 100; ++i) count += fits(match, Request{.random = i * 10'007}) ? 1 : 0;
    return count;
  };
  EXPECT_EQ(taken(0), 0);
  EXPECT_EQ(taken(1'000'000), 100);
  EXPECT_EQ(taken(500'000), 50);
}

}  // namespace fairlead
