// Values of bodies in JSON that become metadata.
#include "filters/http/json_to_metadata.h"

#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

using JsonType = plan::JsonMetadataTarget::Type;

plan::JsonMetadataTarget jsonTarget(const std::string& key, JsonType type = JsonType::ProtobufValue,
                                    const std::string& value = {}) {
  plan::JsonMetadataTarget target;
  target.space = "space";
  target.key = key;
  target.type = type;
  target.value = value;
  return target;
}

// What is at that path, by its last name; "none" where there is nothing, "bad" where there can't
// be.
plan::JsonMetadataRule jsonRule(std::vector<std::string> path,
                                JsonType type = JsonType::ProtobufValue) {
  plan::JsonMetadataRule rule;
  rule.present = jsonTarget(path.back(), type);
  rule.missing = jsonTarget(path.back(), JsonType::String, "\"none\"");
  rule.error = jsonTarget(path.back(), JsonType::String, "\"bad\"");
  rule.path = std::move(path);
  return rule;
}

plan::JsonMetadataRules jsonRules(std::vector<plan::JsonMetadataRule> all) {
  plan::JsonMetadataRules rules;
  rules.rules = std::move(all);
  rules.content_types = {"application/json"};
  return rules;
}

plan::Update withJsonRules(uint16_t port, plan::JsonToMetadata rules) {
  plan::Update plan = httpPlan({port});
  auto& filters = managerOf(plan).http_filters;
  filters.push_back(answersShow("x-told", plan::FormatPiece::Operator::DynamicMetadata, "space"));
  filters.emplace_back().json_to_metadata = std::move(rules);
  return plan;
}

plan::Update withRequestRules(uint16_t port, std::vector<plan::JsonMetadataRule> all) {
  plan::JsonToMetadata rules;
  rules.request = jsonRules(std::move(all));
  return withJsonRules(port, std::move(rules));
}

std::string jsonPost(Proxy& proxy, const std::string& body,
                     const std::string& type = "application/json") {
  Socket client = proxy.connect();
  client.write("POST / HTTP/1.1\r\nhost: a\r\n" +
               (type.empty() ? "" : "content-type: " + type + "\r\n") +
               "content-length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
  return client.readMessage();
}

std::string toldOfBody(const std::string& answer) {
  const size_t at = answer.find("\r\nx-told: ");
  if (at == std::string::npos) return "nothing";
  return answer.substr(at + 10, answer.find("\r\n", at + 2) - at - 10);
}

}  // namespace

TEST("Values are found by their paths; of lists and objects nothing is told") {
  Origin origin(repeatRequests);
  Proxy proxy(withRequestRules(origin.port(), {jsonRule({"a"}), jsonRule({"o", "b"}),
                                               jsonRule({"o", "deep", "c"}), jsonRule({"l"})}));
  const std::string body = R"({"a":1.5,"o":{"b":"x","deep":{"c":true}},"l":[1],"a2":0})";
  const std::string answer = jsonPost(proxy, body);
  EXPECT_EQ(toldOfBody(answer), std::string(R"({"a":1.5,"b":"x","c":true,"l":"none"})"));
  // The host has all of it.
  EXPECT(answer.ends_with(body));
  EXPECT_EQ(toldOfBody(jsonPost(proxy, R"({"o":{"b":null,"deep":7},"a":{}})")),
            std::string(R"({"a":"none","b":"none","c":"none","l":"none"})"));
  EXPECT_EQ(toldOfBody(jsonPost(proxy, R"({"a":1,"a":2,"l":"é\n\u0041"})")),
            std::string("{\"a\":2,\"b\":\"none\",\"c\":\"none\",\"l\":\"é\\nA\"}"));
  EXPECT_EQ(proxy.stat("json_to_metadata.rq.success"), 3u);
  EXPECT_EQ(proxy.stat("json_to_metadata.resp.success"), 0u);
}

TEST("Values become numbers and texts where that is asked for") {
  Origin origin(repeatRequests);
  Proxy proxy(withRequestRules(
      origin.port(), {jsonRule({"n"}, JsonType::Number), jsonRule({"s"}, JsonType::String)}));
  const auto told = [&](const std::string& n, const std::string& s) {
    return toldOfBody(jsonPost(proxy, "{\"n\":" + n + ",\"s\":" + s + "}"));
  };
  EXPECT_EQ(told("\"12\"", "12"), std::string(R"({"n":12,"s":"12"})"));
  EXPECT_EQ(told("true", "true"), std::string(R"({"n":1,"s":"1"})"));
  EXPECT_EQ(told("false", "\"x\""), std::string(R"({"n":0,"s":"x"})"));
  EXPECT_EQ(told("\"twelve\"", "-3"), std::string(R"({"n":"none","s":"-3"})"));
}

TEST("A body that is no JSON is told of as the rules have it, and goes on") {
  Origin origin(repeatRequests);
  Proxy proxy(withRequestRules(origin.port(), {jsonRule({"a"})}));
  const std::vector<std::string> odd = {"{",
                                        "{\"a\":1}}",
                                        "{'a':1}",
                                        "{\"a\":01}",
                                        std::string("{\"a\":\"\xff\"}"),
                                        "nope",
                                        "{\"a\":\"\x01\"}",
                                        "\xef\xbb\xbf{}",
                                        std::string(200, '['),
                                        std::string("{\"a\":1}\0", 8)};
  for (const std::string& body : odd) {
    const std::string answer = jsonPost(proxy, body);
    EXPECT_EQ(toldOfBody(answer), std::string(R"({"a":"bad"})"));
    EXPECT(answer.ends_with(body));
  }
  EXPECT_EQ(proxy.stat("json_to_metadata.rq.invalid_json_body"), odd.size());
}

TEST("Without a body, or with one of another type, there is nothing to look at") {
  Origin origin(repeatRequests);
  Proxy proxy(withRequestRules(origin.port(), {jsonRule({"a"})}));
  EXPECT_EQ(toldOfBody(jsonPost(proxy, "{\"a\":1}", "text/plain")), std::string(R"({"a":"bad"})"));
  EXPECT_EQ(toldOfBody(jsonPost(proxy, "{\"a\":1}", "application/json; charset=utf-8")),
            std::string(R"({"a":"bad"})"));
  EXPECT_EQ(toldOfBody(jsonPost(proxy, "{\"a\":1}", "")), std::string(R"({"a":"bad"})"));
  EXPECT_EQ(toldOfBody(get(proxy, "/")), std::string(R"({"a":"bad"})"));
  EXPECT_EQ(proxy.stat("json_to_metadata.rq.mismatched_content_type"), 4u);
  EXPECT_EQ(toldOfBody(get(proxy, "/", "content-type: application/json\r\n")),
            std::string(R"({"a":"none"})"));
  Socket client = proxy.connect();
  client.write(
      "POST / HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n"
      "transfer-encoding: chunked\r\n\r\n0\r\n\r\n");
  EXPECT_EQ(toldOfBody(client.readMessage()), std::string(R"({"a":"none"})"));
  EXPECT_EQ(proxy.stat("json_to_metadata.rq.no_body"), 2u);
}

TEST("A body waits until it is whole, in whatever pieces it comes, and no longer than it may") {
  Origin origin(repeatRequests);
  plan::Update plan = withRequestRules(origin.port(), {jsonRule({"a"})});
  plan.listeners[0].per_connection_buffer_limit_bytes = 1024;
  Proxy proxy(plan);
  Socket client = proxy.connect();
  client.write(
      "POST / HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n"
      "transfer-encoding: chunked\r\n\r\n3\r\n{\"a\r\n");
  EXPECT(proxy.waitFor("http.in.downstream_rq_active", 1));
  EXPECT_EQ(origin.connections(), 0);
  for (const char* piece : {"2\r\n\":\r\n", "1\r\n4\r\n", "2\r\n2}\r\n"}) client.write(piece);
  EXPECT_EQ(origin.connections(), 0);
  client.write("0\r\nx-t: 1\r\n\r\n");
  EXPECT_EQ(toldOfBody(client.readMessage()), std::string(R"({"a":42})"));
  EXPECT(jsonPost(proxy, "{\"a\":\"" + std::string(200'000, 'x') + "\"}")
             .starts_with("HTTP/1.1 413 "));
}

TEST("What is there already is kept where that is asked for, and a value may be given") {
  Origin origin(repeatRequests);
  plan::JsonMetadataRule kept = jsonRule({"a"});
  kept.present->preserves = true;
  plan::JsonMetadataRule given = jsonRule({"o", "b"});
  given.present->value = "\"given\"";
  plan::Update plan = withRequestRules(origin.port(), {kept, given});
  auto& filters = managerOf(plan).http_filters;
  plan::HttpFilter set;
  set.set_metadata.emplace().entries = {{"space", false, R"({"a":"before"})", {}}};
  filters.insert(filters.begin() + 1, std::move(set));
  Proxy proxy(plan);
  // Whatever stands there, as long as there is something around it.
  EXPECT_EQ(toldOfBody(jsonPost(proxy, R"({"a":1,"o":{"b":[]}})")),
            std::string(R"({"a":"before","b":"given"})"));
  EXPECT_EQ(toldOfBody(jsonPost(proxy, R"({"a":1,"o":3})")),
            std::string(R"({"a":"before","b":"none"})"));
}

TEST("Answers are looked at by rules of their own, and a route's stand in place of the filter's") {
  Origin origin([](Socket& socket, int) {
    while (!socket.readMessage().empty()) {
      if (!socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
                        "content-length: 7\r\n\r\n{\"a\":9}")) {
        return;
      }
    }
  });
  plan::JsonToMetadata rules;
  rules.response = jsonRules({jsonRule({"a"})});
  {
    Proxy proxy(withJsonRules(origin.port(), rules));
    const std::string answer = jsonPost(proxy, R"({"a":1})");
    EXPECT_EQ(toldOfBody(answer), std::string(R"({"a":9})"));
    EXPECT(answer.ends_with("{\"a\":9}"));
    EXPECT_EQ(proxy.stat("json_to_metadata.resp.success"), 1u);
    EXPECT_EQ(proxy.stat("json_to_metadata.rq.success"), 0u);
  }
  plan::Update plan = withJsonRules(origin.port(), rules);
  plan::FilterConfig of_route;
  of_route.json_to_metadata.emplace().request = jsonRules({jsonRule({"b"})});
  sayOnRoute(plan, 1, std::move(of_route));
  Proxy proxy(plan);
  EXPECT_EQ(toldOfBody(jsonPost(proxy, R"({"b":2})")), std::string(R"({"b":2})"));
}

TEST("A pattern of types whose program is broken is refused") {
  plan::JsonToMetadata rules;
  rules.response = jsonRules({});
  rules.response->content_type_regex.emplace().program = "no program";
  EXPECT(!filters::JsonRules::build(rules));
}

}  // namespace fairlead::test
