// Values of headers and cookies that become metadata.
#include "filters/http/header_to_metadata.h"

#include <map>

#include "base/base64.h"
#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

using TargetType = plan::MetadataTarget::Type;
using MetadataOp = plan::FormatPiece::Operator;

plan::MetadataTarget targetOf(const std::string& key, TargetType type = TargetType::String,
                              const std::string& value = {}) {
  plan::MetadataTarget target;
  target.space = "space";
  target.key = key;
  target.type = type;
  target.value = value;
  return target;
}

// "x-<key>", by which the key is set.
plan::MetadataRule headerRule(const std::string& key, TargetType type = TargetType::String) {
  plan::MetadataRule rule;
  rule.header = "x-" + key;
  rule.present = targetOf(key, type);
  return rule;
}

plan::Update withHeaderRules(uint16_t port, plan::HeaderToMetadata rules) {
  plan::Update plan = httpPlan({port});
  auto& filters = managerOf(plan).http_filters;
  filters.push_back(answersShow("x-told", MetadataOp::DynamicMetadata, "space"));
  filters.emplace_back().header_to_metadata = std::move(rules);
  return plan;
}

// What is told of a request with those lines.
std::string toldOf(Proxy& proxy, const std::string& lines) {
  const std::string answer = get(proxy, "/path?q", lines);
  const size_t at = answer.find("\r\nx-told: ");
  if (at == std::string::npos) return "nothing";
  const size_t begin = at + std::string_view("\r\nx-told: ").size();
  return answer.substr(begin, answer.find("\r\n", begin) - begin);
}

std::string valueBytes(int depth, const std::string& inner) {
  std::string bytes = inner;
  for (int i = 0; i < depth; ++i) {
    for (const char tag : {'\x0a', '\x32'}) {
      std::string size;
      for (size_t left = bytes.size(); size.empty() || left > 0; left >>= 7) {
        size.push_back(static_cast<char>((left & 0x7f) | (left > 0x7f ? 0x80 : 0)));
      }
      bytes = tag + size + bytes;
    }
  }
  return bytes;
}

}  // namespace

TEST("What is there is told, lines of a name as one; what is not may be told otherwise") {
  Origin origin(answering("origin"));
  plan::HeaderToMetadata rules;
  rules.request = {headerRule("a"), headerRule("b"), headerRule("c")};
  rules.request[1].missing = targetOf("b", TargetType::String, "none");
  rules.request[2].present = targetOf("c", TargetType::String, "some");
  plan::MetadataRule path;
  path.header = ":path";
  path.present = targetOf("path");
  rules.request.push_back(path);
  Proxy proxy(withHeaderRules(origin.port(), rules));
  EXPECT_EQ(toldOf(proxy, "x-a: 1\r\nX-A: 2\r\nx-c: what\r\n"),
            std::string(R"({"a":"1,2","b":"none","c":"some","path":"/path?q"})"));
  EXPECT_EQ(toldOf(proxy, "x-b: here\r\n"), std::string(R"({"b":"here","path":"/path?q"})"));
  // There, and empty: nothing to tell.
  EXPECT_EQ(toldOf(proxy, "x-a:\r\nx-b:\r\n"), std::string(R"({"path":"/path?q"})"));
}

TEST("Cookies are told by their names, whatever stands around them") {
  Origin origin(answering("origin"));
  plan::HeaderToMetadata rules;
  plan::MetadataRule rule;
  rule.cookie = "id";
  rule.present = targetOf("id");
  rule.missing = targetOf("id", TargetType::String, "none");
  rules.request = {rule};
  Proxy proxy(withHeaderRules(origin.port(), rules));
  EXPECT_EQ(toldOf(proxy, "cookie: xid=1; id=\"2\"; id=3\r\n"), std::string(R"({"id":"2"})"));
  for (const char* odd : {"", "cookie: idx=1\r\n", "cookie: =1;;;=\r\n", "cookie: id\r\n",
                          "cookie: id=\r\n", "cookie: ID=1\r\n"}) {
    EXPECT_EQ(toldOf(proxy, odd), std::string(R"({"id":"none"})"));
  }
}

TEST("Numbers and protobuf values have their types, and what is none is not told") {
  Origin origin(answering("origin"));
  plan::HeaderToMetadata rules;
  rules.request = {headerRule("n", TargetType::Number), headerRule("v", TargetType::ProtobufValue)};
  rules.request[1].present->base64 = true;
  rules.stat_prefix = "told";
  Proxy proxy(withHeaderRules(origin.port(), rules));
  for (const auto& [text, number] : std::map<std::string, std::string>{{"1.5", "1.5"},
                                                                       {"-7", "-7"},
                                                                       {"1e3", "1000"},
                                                                       {"0x1A", "26"},
                                                                       {"1e-999", "0"},
                                                                       {"nan", "null"}}) {
    EXPECT_EQ(toldOf(proxy, "x-n: " + text + "\r\n"), "{\"n\":" + number + "}");
  }
  for (const char* odd : {"x", "0x", "1 2", "1,2", "-", "1e", "+-1", "--1"}) {
    EXPECT(!has(toldOf(proxy, "x-n: " + std::string(odd) + "\r\n"), "\"n\""));
  }
  const auto told = [&](const std::string& bytes) {
    return toldOf(proxy, "x-v: " + encodeBase64(bytes) + "\r\n");
  };
  EXPECT_EQ(told("\x1a\x01"
                 "a"),
            std::string(R"({"v":"a"})"));
  EXPECT_EQ(told("\x20\x01"), std::string(R"({"v":true})"));
  EXPECT_EQ(told(std::string("\x11\0\0\0\0\0\0\xf8\x3f", 9)), std::string(R"({"v":1.5})"));
  EXPECT_EQ(told("\x2a\x09\x0a\x07\x0a\x01k\x12\x02\x20\x01"), std::string(R"({"v":{"k":true}})"));
  EXPECT_EQ(told(valueBytes(2, "\x20\x01")), std::string(R"({"v":[[true]]})"));
  for (const std::string& odd :
       {std::string("\x1a\x05"
                    "a"),
        std::string("\xff\xff\xff"), std::string("\x1a\x01\xff"), std::string("\x1b"),
        std::string("\x11\x01"), valueBytes(60, "\x20\x01")}) {
    EXPECT(!has(told(odd), "\"v\""));
  }
  EXPECT_EQ(proxy.stat("http_filter_name.told.base64_decode_failed"), 0u);
  EXPECT(!has(toldOf(proxy, "x-v: !!!\r\n"), "\"v\""));
  EXPECT_EQ(proxy.stat("http_filter_name.told.base64_decode_failed"), 1u);
}

TEST("A header that is removed is told, and no host sees it") {
  Origin origin(repeatRequests);
  plan::HeaderToMetadata rules;
  rules.request = {headerRule("a")};
  rules.request[0].remove = true;
  Proxy proxy(withHeaderRules(origin.port(), rules));
  const std::string answer = get(proxy, "/", "x-a: 1\r\nx-b: 2\r\nX-a: 3\r\n");
  EXPECT(has(answer, R"(x-told: {"a":"1,3"})"));
  EXPECT(has(answer, "x-b: 2\r\n"));
  EXPECT(!has(answer, "x-a: "));
}

TEST("What is too long is not told, and all of it is counted under the rules' own name") {
  Origin origin(answering("origin"));
  plan::HeaderToMetadata rules;
  rules.request = {headerRule("a"), headerRule("b")};
  rules.request[1].missing = targetOf("b", TargetType::String, "none");
  rules.stat_prefix = "told";
  Proxy proxy(withHeaderRules(origin.port(), rules));
  const auto counted = [&](const std::string& name) {
    return proxy.stat("http_filter_name.told." + name);
  };
  EXPECT_EQ(toldOf(proxy, "x-a: " + std::string(8 * 1024, 'a') + "\r\n"),
            std::string(R"({"b":"none"})"));
  EXPECT_EQ(counted("header_value_too_long"), 1u);
  EXPECT_EQ(toldOf(proxy, "x-b: 1\r\nx-a: " + std::string(8 * 1024 - 1, 'a') + "\r\n").size(),
            8 * 1024 - 1 + std::string_view(R"({"a":"","b":"1"})").size());
  EXPECT_EQ(counted("request_rules_processed"), 4u);
  EXPECT_EQ(counted("request_header_not_found"), 1u);
  EXPECT_EQ(counted("request_metadata_added"), 3u);
  EXPECT_EQ(counted("response_rules_processed"), 0u);
}

TEST("Answers are told of as well, and by their status; what is told last of a key counts") {
  Origin origin([](Socket& socket, int) {
    while (!socket.readMessage().empty()) {
      if (!socket.write("HTTP/1.1 203 Fine\r\nx-a: of host\r\nx-b: gone\r\n"
                        "content-length: 0\r\n\r\n")) {
        return;
      }
    }
  });
  plan::HeaderToMetadata rules;
  rules.request = {headerRule("a")};
  rules.response = {headerRule("a"), headerRule("b"), headerRule("c")};
  rules.response[1].remove = true;
  rules.response[2].missing = targetOf("c", TargetType::Number, "5");
  plan::MetadataRule status;
  status.header = ":status";
  status.present = targetOf("status", TargetType::Number);
  rules.response.push_back(status);
  Proxy proxy(withHeaderRules(origin.port(), rules));
  const std::string answer = get(proxy, "/", "x-a: of client\r\n");
  EXPECT(has(answer, R"(x-told: {"a":"of host","b":"gone","c":5,"status":203})"));
  EXPECT(!has(answer, "x-b: "));
}

TEST("What a route says stands in place of the filter's rules, be it nothing") {
  for (const bool is_empty : {false, true}) {
    Origin origin(answering("origin"));
    plan::HeaderToMetadata rules;
    rules.request = {headerRule("a")};
    plan::Update plan = withHeaderRules(origin.port(), rules);
    plan::FilterConfig of_route;
    of_route.header_to_metadata.emplace();
    if (!is_empty) of_route.header_to_metadata->request = {headerRule("b")};
    sayOnRoute(plan, 1, std::move(of_route));
    Proxy proxy(plan);
    const std::string told = toldOf(proxy, "x-a: 1\r\nx-b: 2\r\n");
    EXPECT(!has(told, "\"a\""));
    EXPECT_EQ(has(told, R"({"b":"2"})"), !is_empty);
  }
}

TEST("A rewrite whose program is broken is refused") {
  plan::HeaderToMetadata rules;
  rules.request = {headerRule("a")};
  rules.request[0].present->rewrite.emplace().regex.emplace().program = "no program";
  stats::Registry registry(1);
  EXPECT(!filters::HeaderToMetadataRules::build(rules, registry));
  std::swap(rules.request, rules.response);
  EXPECT(!filters::HeaderToMetadataRules::build(rules, registry));
}

TEST("Metadata that is told in a line of an answer ends it not") {
  Origin origin(answering("origin"));
  plan::HeaderToMetadata rules;
  rules.request = {headerRule("a")};
  rules.request[0].present->base64 = true;
  plan::Update plan = withHeaderRules(origin.port(), rules);
  managerOf(plan).http_filters[0] =
      answersShow("x-told", MetadataOp::DynamicMetadata, "space", "a");
  Proxy proxy(plan);
  const std::string answer =
      get(proxy, "/", "x-a: " + encodeBase64(std::string("one\r\nx-evil: 1\0\ntwo", 19)) + "\r\n");
  EXPECT(has(answer, "x-told: one  x-evil: 1  two\r\n"));
}

TEST("A number that is larger than any leaves what it stands beside as it is") {
  Origin origin(answering("origin"));
  plan::HeaderToMetadata rules;
  rules.request = {headerRule("n", TargetType::Number), headerRule("a")};
  plan::Update plan = withHeaderRules(origin.port(), rules);
  plan::HttpFilter set;
  set.set_metadata.emplace().entries = {{"space", true, R"({"b":1})", {}}};
  managerOf(plan).http_filters.push_back(std::move(set));
  Proxy proxy(plan);
  for (const char* huge : {"inf", "1e999", "-inf"}) {
    const std::string told = toldOf(proxy, "x-a: 1\r\nx-n: " + std::string(huge) + "\r\n");
    EXPECT(has(told, R"({"a":"1","b":1,"n":)"));
  }
}

}  // namespace fairlead::test
