// Who may do what.
#include "filters/http/rbac_rules.h"
#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

using Kind = plan::RbacCondition::Kind;
using Action = plan::RbacRules::Action;

plan::RbacCondition conditionOf(Kind kind) {
  plan::RbacCondition condition;
  condition.kind = kind;
  return condition;
}

plan::RbacCondition pathBegins(const std::string& prefix) {
  plan::RbacCondition condition = conditionOf(Kind::Path);
  condition.text.emplace();
  condition.text->kind = plan::StringMatch::Kind::Prefix;
  condition.text->value = prefix;
  return condition;
}

plan::RbacCondition from(Kind kind, const std::string& ip, uint32_t bits) {
  plan::RbacCondition condition = conditionOf(kind);
  condition.range = plan::CidrRange{ip, bits};
  return condition;
}

plan::RbacRules rulesOf(Action action, plan::RbacCondition permission,
                        plan::RbacCondition principal = conditionOf(Kind::Any)) {
  plan::RbacRules rules;
  rules.action = action;
  rules.policies.push_back({"a policy", std::move(permission), std::move(principal)});
  return rules;
}

plan::Update withRbac(uint16_t port, plan::Rbac rbac) {
  plan::Update plan = httpPlan({port});
  managerOf(plan).http_filters.emplace_back();
  managerOf(plan).http_filters[0].rbac = std::move(rbac);
  return plan;
}

const std::string kLoopback("\x7f\0\0\0", 4);

}  // namespace

TEST("What no policy fits is denied by those that allow, and let through by those that deny") {
  Origin origin(answering("origin"));
  plan::Rbac rbac;
  rbac.rules = rulesOf(Action::Allow, pathBegins("/open"));
  rbac.counts_policies = true;
  Proxy allows(withRbac(origin.port(), rbac));
  EXPECT(has(get(allows, "/open?x"), "origin"));
  const std::string denied = get(allows, "/closed?/open");
  EXPECT(denied.starts_with("HTTP/1.1 403 Forbidden\r\n"));
  EXPECT(has(denied, "RBAC: access denied"));
  EXPECT_EQ(allows.stat("http.in.rbac.allowed"), 1u);
  EXPECT_EQ(allows.stat("http.in.rbac.denied"), 1u);
  EXPECT_EQ(allows.stat("http.in.rbac.policy.a policy.allowed"), 1u);
  rbac.rules->action = Action::Deny;
  Proxy denies(withRbac(origin.port(), std::move(rbac)));
  EXPECT(has(get(denies, "/open"), "403"));
  EXPECT(has(get(denies, "/closed"), "origin"));
}

TEST("A rule may ask for what the configuration says of the route") {
  Origin origin(answering("origin"));
  for (const std::string& value : {std::string("good"), std::string("other")}) {
    plan::RbacCondition condition = conditionOf(Kind::RouteMetadata);
    condition.metadata.emplace();
    condition.metadata->metadata_namespace = "space";
    condition.metadata->metadata_path = "key";
    condition.metadata->value = plan::MetadataCondition::Value::Text;
    condition.metadata->text.emplace().value = "good";
    plan::Rbac rbac;
    rbac.rules = rulesOf(Action::Allow, condition);
    plan::Update plan = withRbac(origin.port(), std::move(rbac));
    plan::Metadata& metadata = plan.route_tables[0].virtual_hosts[0].routes[0].metadata.emplace();
    metadata.spaces.emplace_back().name = "space";
    metadata.spaces[0].values.push_back({"key", value});
    Proxy proxy(plan);
    EXPECT_EQ(get(proxy, "/").starts_with("HTTP/1.1 200 "), value == "good");
  }
}

TEST("The shadow is counted, and changes nothing") {
  Origin origin(answering("origin"));
  plan::Rbac rbac;
  rbac.shadow = rulesOf(Action::Deny, conditionOf(Kind::Any));
  rbac.shadow_stat_prefix = "dark_";
  Proxy proxy(withRbac(origin.port(), std::move(rbac)));
  EXPECT(has(get(proxy, "/"), "origin"));
  EXPECT_EQ(proxy.stat("http.in.rbac.dark_.shadow_denied"), 1u);
}

TEST("Addresses are the connection's, whatever a client says of itself") {
  Origin origin(answering("origin"));
  plan::Rbac rbac;
  plan::RbacCondition both = conditionOf(Kind::And);
  both.parts = {from(Kind::SourceIp, kLoopback, 8), from(Kind::DirectRemoteIp, kLoopback, 8)};
  rbac.rules = rulesOf(Action::Allow, from(Kind::DestinationIp, kLoopback, 8), std::move(both));
  Proxy proxy(withRbac(origin.port(), std::move(rbac)));
  EXPECT(has(get(proxy, "/", "x-forwarded-for: 9.9.9.9\r\n"), "origin"));
}

TEST("Conditions that need TLS hold for nobody without it, and nothing fits an empty list") {
  for (const Kind kind : {Kind::Authenticated, Kind::Or, Kind::Metadata}) {
    Origin origin(answering("origin"));
    plan::Rbac rbac;
    rbac.rules = rulesOf(Action::Allow, conditionOf(kind));
    Proxy proxy(withRbac(origin.port(), std::move(rbac)));
    EXPECT(has(get(proxy, "/"), "403"));
  }
}

TEST("A denial to do without exactly one condition is none") {
  EXPECT(!filters::RbacCondition::build(conditionOf(Kind::Not)));
}

TEST("Details have no blanks, which logs are split at") {
  const auto rules = filters::RbacRules::build(rulesOf(Action::Deny, conditionOf(Kind::Any)), {});
  EXPECT_EQ(rules.value()->detailsOf(0),
            std::string("rbac_access_denied_matched_policy[a_policy]"));
  EXPECT_EQ(rules.value()->detailsOf(-1), std::string("rbac_access_denied_matched_policy[none]"));
}

}  // namespace fairlead::test
