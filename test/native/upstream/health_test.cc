// What is known of hosts' health, and what host sets make of it.
#include "upstream/health.h"

#include <thread>
#include <vector>

#include "test/native/test.h"
#include "test/native/upstream/fixtures.h"

namespace fairlead::test {

using upstream::HealthChange;
using upstream::HealthFlag;
using upstream::HealthFlags;
using upstream::HealthInbox;
using upstream::healthText;

TEST("Flags of health are named one after the other, and none is healthy") {
  EXPECT(healthText({}) == "healthy");
  EXPECT(healthText(HealthFlag::ActiveTimeout | HealthFlag::FailedActive) ==
         "/failed_active_hc/active_hc_timeout");
  EXPECT(healthText(HealthFlag::DegradedOutlier | HealthFlag::PendingRemoval) ==
         "/pending_dynamic_removal/degraded_outlier_detection");
}

TEST("A host's health is what its assignment says and what has been found out") {
  Hosts hosts;
  hosts.add(1, 0, Health::Degraded);
  Host& host = hosts.at(0);
  EXPECT(host.health() == HealthFlags(HealthFlag::DegradedEds) && host.isDegraded());
  EXPECT(host.changeHealth({}, HealthFlag::FailedActive));
  EXPECT(!host.changeHealth({}, HealthFlag::FailedActive));
  EXPECT(!host.isDegraded() && !host.isHealthy() && !host.isExcluded());
  EXPECT(host.changeHealth(HealthFlag::FailedActive, HealthFlag::PendingActive));
  EXPECT(host.isDegraded() && host.isExcluded());
  EXPECT(healthText(host.health()) == "/degraded_eds_health/pending_active_hc");
}

TEST("A set tells hosts apart by what has been found out when it was made") {
  Hosts hosts;
  hosts.add().add().add().add();
  hosts.at(0).changeHealth({}, HealthFlag::FailedOutlier);
  hosts.at(1).changeHealth({}, HealthFlag::DegradedActive);
  hosts.at(2).changeHealth({}, HealthFlag::FailedActive | HealthFlag::ExcludedImmediately);
  const HostSet before = hosts.set();
  EXPECT(before.healthyCount() == 1 && before.degradedCount() == 1 && before.excludedCount() == 1);
  hosts.at(0).changeHealth(HealthFlag::FailedOutlier, {});
  EXPECT(before.healthyCount() == 1);
  EXPECT(hosts.set().healthyCount() == 2);
}

TEST("Who posts first wakes the control thread, which takes all in order") {
  int wakes = 0;
  HealthInbox inbox([&wakes] { ++wakes; });
  for (uint32_t i = 0; i < 3; ++i) inbox.post({.host = {}, .set = HealthFlags::ofBits(i)});
  EXPECT(wakes == 1);
  const std::vector<HealthChange> taken = inbox.take();
  EXPECT(taken.size() == 3 && taken[2].set == HealthFlags::ofBits(2));
  EXPECT(inbox.take().empty());
  inbox.post({});
  EXPECT(wakes == 2);
}

}  // namespace fairlead::test
