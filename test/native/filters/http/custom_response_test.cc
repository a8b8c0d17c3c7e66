// Answers that take the place of others, by a tree of matchers.
#include "test/native/support/exchange.h"
#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

plan::CustomResponse replacing(plan::MatchInput::Kind kind, const std::string& value,
                               const plan::ResponsePolicy& policy) {
  plan::CustomResponse response;
  plan::MatchNode& node = response.tree.emplace().nodes.emplace_back();
  plan::MatchEdge& edge = node.edges.emplace_back();
  plan::MatchPredicate& predicate = edge.predicate.emplace();
  predicate.kind = plan::MatchPredicate::Kind::Text;
  predicate.input.emplace().kind = kind;
  predicate.text.emplace().value = value;
  edge.outcome.emplace();
  response.policies.push_back(policy);
  return response;
}

plan::Update with(uint16_t port, const plan::CustomResponse& response) {
  plan::Update plan = httpPlan({port});
  managerOf(plan).http_filters.emplace_back();
  managerOf(plan).http_filters[0].custom_response = response;
  return plan;
}

Origin::Script failing() {
  return [](Socket& socket, int) {
    while (!socket.readMessage().empty()) {
      socket.write("HTTP/1.1 503 No\r\nx-own: 1\r\ncontent-length: 3\r\n\r\nbad");
    }
  };
}

}  // namespace

TEST("An answer takes the place of a host's, with a status and a body of its own") {
  Origin origin(failing());
  plan::ResponsePolicy policy;
  policy.status = 499;
  policy.body = "replaced";
  Proxy proxy(with(origin.port(), replacing(plan::MatchInput::Kind::StatusCode, "503", policy)));
  const std::string answer = get(proxy, "/");
  EXPECT(answer.starts_with("HTTP/1.1 499 "));
  EXPECT(!has(answer, "x-own"));
  EXPECT(answer.ends_with("\r\n\r\nreplaced"));
}

TEST("An answer that no matcher names stays, and a class is matched") {
  Origin origin(failing());
  plan::ResponsePolicy policy;
  policy.body = "replaced";
  Proxy other(with(origin.port(), replacing(plan::MatchInput::Kind::StatusClass, "4xx", policy)));
  EXPECT(get(other, "/").ends_with("\r\n\r\nbad"));
  Proxy proxy(with(origin.port(), replacing(plan::MatchInput::Kind::StatusClass, "5xx", policy)));
  const std::string answer = get(proxy, "/");
  EXPECT(answer.starts_with("HTTP/1.1 503 "));
  EXPECT(answer.ends_with("\r\n\r\nreplaced"));
}

}  // namespace fairlead::test
