#include "upstream/retry_hosts.h"

#include <memory>
#include <string>

#include "test/native/test.h"
#include "upstream/balancer.h"

namespace fairlead::upstream {

namespace {

std::shared_ptr<Host> host(uint32_t priority, bool canary = false,
                           std::vector<std::string> labels = {}) {
  static uint32_t port = 0;
  plan::Host plan;
  plan.address.emplace().ip = std::string("\x0a\0\0\1", 4);
  plan.address->port = ++port;
  plan.weight = 1;
  plan.priority = priority;
  plan.canary = canary;
  plan.labels = std::move(labels);
  return std::make_shared<Host>(std::make_shared<const plan::Host>(plan), 1);
}

}  // namespace

TEST("Without rules every host will do; with them each kind of host is avoided") {
  RetryHosts retry;
  retry.begin(nullptr);
  const auto plain = host(0);
  const auto canary = host(0, true);
  const auto labelled = host(0, false, {"zone=\"a\"", "stage=\"old\""});
  retry.onAttempted(*plain);
  EXPECT(retry.accepts(*plain));
  EXPECT_EQ(retry.choices(), 1u);

  plan::RetryHosts rules;
  rules.avoid_previous = rules.avoid_canary = true;
  rules.avoid_labelled = {{{"stage=\"old\"", "zone=\"a\""}}, {{"stage=\"old\"", "zone=\"b\""}}};
  rules.more_choices = 3;
  retry.begin(&rules);
  EXPECT_EQ(retry.choices(), 4u);
  EXPECT(retry.accepts(*plain));
  EXPECT(!retry.accepts(*canary));
  EXPECT(!retry.accepts(*labelled));
  retry.onAttempted(*plain);
  EXPECT(!retry.accepts(*plain));
  // The next request knows nothing of this one.
  retry.begin(&rules);
  EXPECT(retry.accepts(*plain));
}

TEST("After so many attempts the priorities that were tried get nothing, until none is left") {
  const std::vector<std::shared_ptr<Host>> hosts = {host(0), host(1), host(2)};
  const HostSet set(hosts, nullptr, 50, 140);
  plan::RetryHosts rules;
  rules.priorities_every = 2;
  RetryHosts retry;
  retry.begin(&rules);
  EXPECT(retry.loads(set) == nullptr);
  retry.onAttempted(*hosts[0]);
  EXPECT(retry.loads(set) == nullptr);
  retry.onAttempted(*hosts[0]);
  const PriorityLoads* loads = retry.loads(set);
  EXPECT(loads && loads->healthy == std::vector<uint32_t>({0, 100, 0}));

  Random random(1);
  const BalancerSettings settings;
  Balancer balancer(settings, 0, random);
  balancer.setHosts(set);
  EXPECT(balancer.choose({.loads = loads}).host == hosts[1].get());

  // Three attempts: the same loads as after two.
  retry.onAttempted(*hosts[1]);
  EXPECT(retry.loads(set) == loads);
  EXPECT(loads->healthy == std::vector<uint32_t>({0, 100, 0}));
  retry.onAttempted(*hosts[1]);
  retry.loads(set);
  EXPECT(loads->healthy == std::vector<uint32_t>({0, 0, 100}));
  retry.onAttempted(*hosts[2]);
  retry.onAttempted(*hosts[2]);
  retry.loads(set);
  EXPECT(loads->healthy == std::vector<uint32_t>({100, 0, 0}));
}

TEST("Priorities of several clusters are told apart by whose host was tried") {
  const std::vector<std::shared_ptr<Host>> hosts = {host(0), host(1), host(0)};
  std::vector<PriorityShare> priorities(3, PriorityShare{.healthy = 100});
  const auto find = [&](const RetryHosts::Tried& tried) -> std::optional<size_t> {
    for (size_t i = 0; i < hosts.size(); ++i) {
      if (hosts[i].get() == tried.host) return i;
    }
    return std::nullopt;
  };
  plan::RetryHosts rules;
  rules.priorities_every = 1;
  RetryHosts retry;
  retry.begin(&rules);
  EXPECT(retry.loads(priorities, find) == nullptr);
  retry.onAttempted(*hosts[0]);
  const PriorityLoads* const loads = retry.loads(priorities, find);
  EXPECT(loads && loads->healthy == std::vector<uint32_t>({0, 100, 0}));
  // Of a cluster that is gone.
  retry.onAttempted(*host(0));
  retry.loads(priorities, find);
  EXPECT(loads->healthy == std::vector<uint32_t>({0, 100, 0}));
  retry.onAttempted(*hosts[1]);
  retry.loads(priorities, find);
  EXPECT(loads->healthy == std::vector<uint32_t>({0, 0, 100}));
  priorities[2].healthy = 0;
  retry.onAttempted(*hosts[2]);
  retry.loads(priorities, find);
  EXPECT(loads->healthy == std::vector<uint32_t>({100, 0, 0}));
}

}  // namespace fairlead::upstream
