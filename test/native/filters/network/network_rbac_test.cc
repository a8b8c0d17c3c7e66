// Who may connect.
#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

using Action = plan::RbacRules::Action;

plan::RbacRules rulesForAll(Action action) {
  plan::RbacRules rules;
  rules.action = action;
  plan::RbacCondition any;
  any.kind = plan::RbacCondition::Kind::Any;
  rules.policies.push_back({"a policy", any, any});
  return rules;
}

plan::Update echoWith(plan::NetworkRbac rbac) {
  plan::Update plan = tcpPlan({});
  plan::FilterChain& chain = plan.listeners[0].filter_chains[0];
  chain.tcp.reset();
  chain.echo.emplace();
  rbac.stat_prefix = "r";
  plan::ConnectionGuard guard;
  guard.rbac = std::move(rbac);
  chain.guards.push_back(std::move(guard));
  return plan;
}

}  // namespace

TEST("Who may connect is heard; who may not is heard nothing of, and its connection ends") {
  plan::NetworkRbac allows;
  allows.rules = rulesForAll(Action::Allow);
  Proxy open(echoWith(allows));
  Socket client = open.connect();
  client.write("x");
  EXPECT_EQ(client.read(1), "x");
  EXPECT_EQ(open.stat("r.rbac.allowed"), 1u);
  plan::NetworkRbac denies;
  denies.rules = rulesForAll(Action::Deny);
  Proxy closed(echoWith(denies));
  Socket refused = closed.connect();
  refused.write("x");
  EXPECT_EQ(refused.readAll(), "");
  EXPECT_EQ(closed.stat("r.rbac.denied"), 1u);
}

TEST("Rules are asked once, or with all that comes") {
  for (const bool is_continuous : {false, true}) {
    plan::NetworkRbac rbac;
    rbac.rules = rulesForAll(Action::Allow);
    rbac.shadow = rulesForAll(Action::Deny);
    rbac.shadow_stat_prefix = "s";
    rbac.is_continuous = is_continuous;
    Proxy proxy(echoWith(rbac));
    Socket client = proxy.connect();
    for (int i = 0; i < 3; ++i) {
      client.write("x");
      EXPECT_EQ(client.read(1), "x");
    }
    EXPECT_EQ(proxy.stat("r.rbac.allowed"), is_continuous ? 3u : 1u);
    EXPECT_EQ(proxy.stat("r.rbac.s.shadow_denied"), is_continuous ? 3u : 1u);
  }
}

}  // namespace fairlead::test
