#include "access_log/filter.h"

#include "test/native/test.h"

namespace fairlead::access_log {
namespace {

using Plan = plan::AccessLogFilter;
using Kind = Plan::Kind;
using Comparison = Plan::Comparison;

Plan comparison(Kind kind, Comparison comparison, uint32_t value) {
  Plan plan;
  plan.kind = kind;
  plan.comparison = comparison;
  plan.value = value;
  return plan;
}

Plan tree(Kind kind, std::vector<Plan> filters) {
  Plan plan;
  plan.kind = kind;
  plan.filters = std::move(filters);
  return plan;
}

Plan header(const std::string& name, std::optional<std::string> exact, bool invert = false) {
  Plan plan;
  plan.kind = Kind::Header;
  plan.header.emplace();
  plan.header->name = name;
  plan.header->invert = invert;
  plan.header->kind = exact ? plan::HeaderMatch::Kind::String : plan::HeaderMatch::Kind::Present;
  plan.header->present = true;
  if (exact) {
    plan.header->string_match.emplace();
    plan.header->string_match->value = *exact;
  }
  return plan;
}

bool accepts(const Plan& plan, const format::FormatContext& context, uint64_t random = 0) {
  return Filter::build(plan).value().accepts(context, random);
}

format::FormatContext withStatus(uint16_t status) {
  format::FormatContext context;
  context.status = status;
  return context;
}

bool acceptsHeaders(const Plan& plan, std::initializer_list<std::string_view> values) {
  http::HeaderMap headers;
  for (const std::string_view value : values) headers.add(http::HeaderId::Other, "x-t", value);
  format::FormatContext context;
  context.request_headers = &headers;
  return accepts(plan, context);
}

TEST("a status is compared; no status is 0") {
  const auto at_least_500 = comparison(Kind::Status, Comparison::Ge, 500);
  EXPECT(accepts(at_least_500, withStatus(500)));
  EXPECT(!accepts(at_least_500, withStatus(499)));
  EXPECT(accepts(comparison(Kind::Status, Comparison::Le, 0), withStatus(0)));
  EXPECT(accepts(comparison(Kind::Status, Comparison::Eq, 404), withStatus(404)));
  EXPECT(!accepts(comparison(Kind::Status, Comparison::Ne, 404), withStatus(404)));
}

TEST("a duration is compared in whole milliseconds; without one nothing is logged") {
  const auto slow = comparison(Kind::Duration, Comparison::Ge, 2);
  format::FormatContext context;
  EXPECT(!accepts(slow, context));
  context.duration_us = 1'999;
  EXPECT(!accepts(slow, context));
  context.duration_us = 2'000;
  EXPECT(accepts(slow, context));
}

TEST("and needs all, or needs one") {
  const auto client = comparison(Kind::Status, Comparison::Ge, 400);
  const auto not_server = comparison(Kind::Status, Comparison::Le, 499);
  EXPECT(accepts(tree(Kind::And, {client, not_server}), withStatus(404)));
  EXPECT(!accepts(tree(Kind::And, {client, not_server}), withStatus(500)));
  EXPECT(accepts(tree(Kind::Or, {client, not_server}), withStatus(200)));
  const auto teapot = comparison(Kind::Status, Comparison::Eq, 418);
  EXPECT(!accepts(tree(Kind::Or, {teapot, teapot}), withStatus(200)));
}

TEST("response flags: one of those named, or any when none is") {
  Plan any;
  any.kind = Kind::Flags;
  Plan named = any;
  named.flags = {"UF", "NR"};
  format::FormatContext context;
  EXPECT(!accepts(any, context));
  EXPECT(!accepts(named, context));
  context.flags.set(format::ResponseFlag::UpstreamOverflow);
  EXPECT(accepts(any, context));
  EXPECT(!accepts(named, context));
  context.flags.set(format::ResponseFlag::NoRouteFound);
  EXPECT(accepts(named, context));
}

TEST("of several headers with one name one that fits is enough; they are not joined") {
  EXPECT(acceptsHeaders(header("x-t", "a"), {"a"}));
  EXPECT(acceptsHeaders(header("x-t", "a"), {"b", "a"}));
  EXPECT(!acceptsHeaders(header("x-t", "a,b"), {"a", "b"}));
  EXPECT(!acceptsHeaders(header("x-t", "a"), {}));
}

TEST("a number is within its range, and a missing header may count as empty") {
  Plan range = header("x-t", std::nullopt);
  range.header->kind = plan::HeaderMatch::Kind::Range;
  range.header->range_start = -1;
  range.header->range_end = 5;
  EXPECT(acceptsHeaders(range, {"-1"}));
  EXPECT(acceptsHeaders(range, {"4"}));
  EXPECT(!acceptsHeaders(range, {"5"}));
  EXPECT(!acceptsHeaders(range, {"4x"}));
  EXPECT(!acceptsHeaders(range, {}));
  Plan empty = header("x-t", "a", true);
  empty.header->treat_missing_as_empty = true;
  EXPECT(acceptsHeaders(empty, {}));
}

TEST("kinds of logs and statuses of gRPC are named, or left out") {
  Plan plan;
  plan.kind = Kind::LogType;
  plan.numbers = {6};
  format::FormatContext context;
  context.log_type = format::LogType::DownstreamEnd;
  EXPECT(accepts(plan, context));
  plan.excludes = true;
  EXPECT(!accepts(plan, context));
  Plan grpc;
  grpc.kind = Kind::GrpcStatus;
  grpc.numbers = {2};
  EXPECT(accepts(grpc, context));
  http::HeaderMap trailers;
  trailers.add(http::HeaderId::GrpcStatus, "grpc-status", "5");
  context.response_trailers = &trailers;
  EXPECT(!accepts(grpc, context));
  grpc.numbers = {5};
  EXPECT(accepts(grpc, context));
}

TEST("metadata is asked of its value; without one the filter has its own mind") {
  const std::vector<plan::MetadataValue> values = {
      {"a", "text", false}, {"n", "2.5", true}, {"l", R"([1,"two",3])", true}};
  const format::FilterMetadata metadata(values);
  const format::SetMetadata set[] = {{"kit", &metadata}};
  format::FormatContext context;
  context.filter_metadata = set;
  Plan plan;
  plan.kind = Kind::Metadata;
  plan.metadata_namespace = "kit";
  plan.metadata_path = "a";
  plan.metadata_value.emplace();
  EXPECT(accepts(plan, context));
  plan.metadata_path = "n";
  plan.metadata_value->value = plan::MetadataCondition::Value::Number;
  plan.metadata_value->first_number = 2'000'000;
  plan.metadata_value->end_number = 3'000'000;
  EXPECT(accepts(plan, context));
  plan.metadata_value->end_number = 2'500'000;
  EXPECT(!accepts(plan, context));
  plan.metadata_path = "l";
  plan.metadata_value->value = plan::MetadataCondition::Value::HasElement;
  plan.metadata_value->parts.emplace_back();
  plan.metadata_value->parts[0].value = plan::MetadataCondition::Value::Literal;
  plan.metadata_value->parts[0].literal = "3";
  EXPECT(accepts(plan, context));
  plan.metadata_value->parts[0].literal = "4";
  EXPECT(!accepts(plan, context));
  plan.metadata_value->parts[0].value = plan::MetadataCondition::Value::Text;
  plan.metadata_value->parts[0].text.emplace();
  plan.metadata_value->parts[0].text->value = "two";
  EXPECT(accepts(plan, context));
  plan.metadata_path = "a";
  EXPECT(!accepts(plan, context));
  plan.metadata_path = "none";
  EXPECT(!accepts(plan, context));
  plan.matches_missing = true;
  EXPECT(accepts(plan, context));
}

TEST("an inverted condition needs a header and none that fits") {
  EXPECT(acceptsHeaders(header("x-t", "a", true), {"b"}));
  EXPECT(acceptsHeaders(header("x-t", "a", true), {""}));
  EXPECT(!acceptsHeaders(header("x-t", "a", true), {"b", "a"}));
  EXPECT(!acceptsHeaders(header("x-t", "a", true), {}));
}

TEST("presence and absence of a header") {
  EXPECT(acceptsHeaders(header("x-t", std::nullopt), {""}));
  EXPECT(!acceptsHeaders(header("x-t", std::nullopt), {}));
  EXPECT(acceptsHeaders(header("x-t", std::nullopt, true), {}));
  EXPECT(!acceptsHeaders(header("x-t", std::nullopt, true), {"a"}));
}

TEST("pseudo headers are asked for by their names") {
  format::FormatContext context;
  EXPECT(!accepts(header(":method", "GET"), context));
  context.method = "GET";
  EXPECT(accepts(header(":method", "GET"), context));
}

TEST("a share of 2 in a million is the first two numbers of a million") {
  Plan share;
  share.kind = Kind::Runtime;
  share.share_millionths = 2;
  EXPECT(accepts(share, {}, 1));
  EXPECT(!accepts(share, {}, 2));
  EXPECT(accepts(share, {}, 1'000'000));
}

TEST("no request is a health check as long as nothing marks it so") {
  Plan plan;
  plan.kind = Kind::NotHealthCheck;
  EXPECT(accepts(plan, {}));
}

TEST("a regular expression that is no program is refused, however deep it lies") {
  Plan bad = header("x-t", "a");
  bad.header->string_match->kind = plan::StringMatch::Kind::Regex;
  EXPECT(!Filter::build(tree(Kind::And, {bad})).ok());
}

}  // namespace
}  // namespace fairlead::access_log
