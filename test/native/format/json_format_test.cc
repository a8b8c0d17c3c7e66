// Formats whose lines are JSON: types, missing values, and what is escaped.
#include <string>

#include "format/format.h"
#include "test/native/route/fixtures.h"
#include "test/native/test.h"

namespace fairlead {

using test::Headers;
using Op = plan::FormatPiece::Operator;
using Json = plan::JsonFormat;

namespace {

plan::FormatPiece pieceOf(Op op, std::string argument = {},
                          std::optional<uint32_t> max_length = std::nullopt) {
  plan::FormatPiece piece;
  piece.op = op;
  piece.argument = std::move(argument);
  piece.max_length = max_length;
  return piece;
}
Json make(Json::Kind kind) {
  Json json;
  json.kind = kind;
  return json;
}
Json text(std::vector<plan::FormatPiece> pieces) {
  Json json = make(Json::Kind::Text);
  json.pieces = std::move(pieces);
  return json;
}
Json value(Op op, std::string argument = {}, std::optional<uint32_t> max_length = std::nullopt) {
  Json json = text({pieceOf(op, std::move(argument), max_length)});
  json.kind = Json::Kind::Value;
  return json;
}
Json literal(std::string text) {
  Json json = make(Json::Kind::Literal);
  json.literal = std::move(text);
  return json;
}
Json null() { return make(Json::Kind::Null); }
Json list(std::vector<Json> items) {
  Json json = make(Json::Kind::List);
  json.items = std::move(items);
  return json;
}
Json object(std::vector<std::pair<std::string, Json>> members) {
  Json json = make(Json::Kind::Object);
  for (auto& [name, member] : members) {
    member.key = "\"" + name + "\"";
    json.items.push_back(std::move(member));
  }
  return json;
}
plan::Format formatOf(Json json) {
  plan::Format plan;
  plan.json = std::move(json);
  return plan;
}

std::string line(const format::FormatContext& context, Json json, bool omit_empty = false) {
  std::string out = "before ";
  plan::Format plan = formatOf(std::move(json));
  plan.omit_empty = omit_empty;
  format::Format(plan).appendLine(context, &out);
  return out.substr(7);
}

// A request whose header "x-a" is that.
std::string shownHeader(const std::string& header,
                        std::optional<uint32_t> max_length = std::nullopt) {
  Headers request;
  request.add("x-a", header.c_str());
  format::FormatContext context;
  context.request_headers = &request.map();
  return line(context, object({{"a", value(Op::Req, "x-a", max_length)}}));
}

}  // namespace

TEST("an operator alone is a number or a string, and null without a value") {
  format::FormatContext context;
  context.status = 200;
  context.bytes_sent = 5;
  context.protocol = "HTTP/1.1";
  context.downstream.wire_sent = 118;
  EXPECT_EQ(line(context, object({{"code", value(Op::ResponseCode)},
                                  {"sent", value(Op::BytesSent)},
                                  {"wire", value(Op::DownstreamWireBytesSent)},
                                  {"took", value(Op::Duration)},
                                  {"protocol", value(Op::Protocol)},
                                  {"host", value(Op::UpstreamHost)},
                                  {"port", value(Op::UpstreamRemotePort)}})),
            "{\"code\":200,\"sent\":5,\"wire\":118,\"took\":null,\"protocol\":\"HTTP/1.1\","
            "\"host\":null,\"port\":null}\n");
}

TEST("operators among text make a string, in which dashes stand for what is missing") {
  format::FormatContext context;
  context.status = 200;
  const Json json = text({pieceOf(Op::Literal, "a "), pieceOf(Op::UpstreamHost),
                          pieceOf(Op::Literal, " "), pieceOf(Op::ResponseCode)});
  EXPECT_EQ(line(context, object({{"m", json}})), "{\"m\":\"a - 200\"}\n");
  EXPECT_EQ(line(context, object({{"m", json}}), true), "{\"m\":\"a  200\"}\n");
}

TEST("constants, lists and objects stand as they are configured") {
  const format::FormatContext context;
  EXPECT_EQ(line(context, object({{"e", object({})},
                                  {"l", list({literal("1"), null(), list({})})},
                                  {"n", null()},
                                  {"s", text({})}})),
            "{\"e\":{},\"l\":[1,null,[]],\"n\":null,\"s\":\"\"}\n");
}

TEST("where empty values are omitted, so are objects that have no others; lists stay") {
  const format::FormatContext context;
  const Json nothing = value(Op::UpstreamHost);
  EXPECT_EQ(line(context,
                 object({{"a", nothing},
                         {"b", literal("1")},
                         {"deep", object({{"deep", object({{"deep", nothing}})}})},
                         {"e", object({})},
                         {"l", list({nothing, literal("2"), nothing, object({{"a", nothing}})})},
                         {"ll", list({list({nothing}), object({})})},
                         {"n", null()},
                         {"o", object({{"a", nothing}, {"b", literal("true")}})},
                         {"s", text({})},
                         {"z", nothing}}),
                 true),
            "{\"b\":1,\"l\":[2],\"ll\":[[]],\"o\":{\"b\":true},\"s\":\"\"}\n");
  EXPECT_EQ(line(context, object({{"a", nothing}}), true), "{}\n");
}

TEST("what JSON does not allow is escaped; other text is not") {
  EXPECT_EQ(shownHeader("a \"b\" \\ c/\té <>"), "{\"a\":\"a \\\"b\\\" \\\\ c/\\té <>\"}\n");
}

TEST("of a text that is not UTF-8 every other byte is a character of its own") {
  EXPECT_EQ(shownHeader("t\tq\" \\ \xe9/\xff"),
            "{\"a\":\"t\\u0009q\\u0022 \\u005c \\u00e9/\\u00ff\"}\n");
  // As is one that was cut inside of a character.
  EXPECT_EQ(shownHeader("xé", 2), "{\"a\":\"x\\u00c3\"}\n");
}

TEST("a text omits what is empty, too") {
  const format::FormatContext context;
  std::string out;
  plan::Format plan;
  plan.pieces = {pieceOf(Op::Literal, "["), pieceOf(Op::UpstreamHost), pieceOf(Op::Literal, "] "),
                 pieceOf(Op::ResponseFlags)};
  plan.omit_empty = true;
  format::Format(plan).appendLine(context, &out);
  EXPECT_EQ(out, "[] -");
}

TEST("it is known which heads a value reads, however deep it stands") {
  const auto reads = [](Op op) {
    return format::Format(formatOf(object({{"l", list({value(op, "x")})}})));
  };
  EXPECT(reads(Op::Req).readsRequestHead());
  EXPECT(!reads(Op::Req).readsResponseHead());
  EXPECT(reads(Op::Resp).readsResponseHead());
  EXPECT(!reads(Op::Duration).readsRequestHead());
}

TEST("metadata of a filter has the types that it has in the configuration") {
  const format::FilterMetadata metadata({{"", "{\"b\":{\"n\":1},\"why\":\"tried\"}", true},
                                         {"why", "tried", false},
                                         {std::string("b\0n", 3), "1", true}});
  const format::SetMetadata set{"f", &metadata};
  format::FormatContext context;
  context.filter_metadata = {&set, 1};
  const auto shown = [&](const std::string& space, const std::string& path,
                         std::optional<uint32_t> length = std::nullopt) {
    Json json = value(Op::DynamicMetadata, space, length);
    json.pieces[0].alternative = path;
    return line(context, std::move(json));
  };
  EXPECT_EQ(shown("f", ""), "{\"b\":{\"n\":1},\"why\":\"tried\"}\n");
  EXPECT_EQ(shown("f", "why"), "\"tried\"\n");
  EXPECT_EQ(shown("f", "why", 3), "\"tri\"\n");
  EXPECT_EQ(shown("f", std::string("b\0n", 3)), "1\n");
  EXPECT_EQ(shown("f", "other"), "null\n");
  EXPECT_EQ(shown("g", "why"), "null\n");
}

}  // namespace fairlead
