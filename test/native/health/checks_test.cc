// Health checks against hosts on loopback: what they find out, and what becomes of it.
#include <unistd.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "health/checker.h"
#include "health/http_check.h"
#include "health/payload.h"
#include "stats/scopes.h"
#include "test/native/support/exchange.h"
#include "test/native/support/origin.h"
#include "test/native/support/proxy.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

using upstream::HealthFlag;
using upstream::HealthFlags;

plan::HealthCheck everyFewMs(plan::HealthCheck::Kind kind = plan::HealthCheck::Kind::Http) {
  plan::HealthCheck check;
  check.kind = kind;
  check.timeout_ms = 5000;
  check.interval_ms = check.no_traffic_interval_ms = check.no_traffic_healthy_interval_ms = 5;
  check.unhealthy_interval_ms = check.unhealthy_edge_interval_ms = 5;
  check.healthy_edge_interval_ms = 5;
  check.unhealthy_threshold = check.healthy_threshold = 1;
  check.reuses_connection = true;
  check.method = "GET";
  check.path = "/hc";
  check.body_bytes = 1024;
  return check;
}

plan::Update checkedPlan(const std::vector<uint16_t>& ports, const plan::HealthCheck& check) {
  plan::Update plan = httpPlan(ports);
  plan.clusters[0].health_check = check;
  return plan;
}

// Answers each request of a connection with these bytes.
Origin::Script saying(std::string bytes) {
  return [bytes = std::move(bytes)](Socket& socket, int) {
    while (!socket.readMessage().empty()) socket.write(bytes);
  };
}

// Says it at once, and waits for the end.
Origin::Script greeting(std::string bytes) {
  return [bytes = std::move(bytes)](Socket& socket, int) {
    socket.write(bytes);
    socket.readAll();
  };
}

HealthFlags healthOf(Proxy& proxy, size_t host) {
  return proxy.dataPlane().clusters().at("origin")->hosts()->hosts()[host]->health();
}

bool becomes(Proxy& proxy, size_t host, HealthFlags flags) {
  return proxy.waitUntil([&] {
    proxy.dataPlane().takeHealth();
    return healthOf(proxy, host) == flags;
  });
}

bool isChecked(Proxy& proxy) {
  return proxy.waitUntil([&] {
    proxy.dataPlane().takeHealth();
    return !proxy.dataPlane().awaitsChecks();
  });
}

}  // namespace

TEST("Parts must come in their order, with anything between") {
  EXPECT(health::hasAll("one two three", {"one", "three"}));
  EXPECT(!health::hasAll("one two three", {"three", "one"}));
  EXPECT(!health::hasAll("aa", {"aa", "a"}));
  EXPECT(health::hasAll("", {}));
}

TEST("One message of gRPC that says SERVING is well, and nothing else") {
  const auto framed = [](std::string message) {
    return std::string("\0\0\0\0", 4) + static_cast<char>(message.size()) + message;
  };
  const std::string serving = framed(std::string("\x08\x01"));
  EXPECT(health::saysServing(serving));
  // A field that nobody knows.
  EXPECT(health::saysServing(framed(std::string("\x12\x01x\x08\x01"))));
  EXPECT(!health::saysServing(framed(std::string("\x08\x02"))));
  EXPECT(!health::saysServing(framed("")));
  EXPECT(!health::saysServing(serving + serving));
  EXPECT(!health::saysServing("\1" + serving.substr(1)));
  for (size_t size = 0; size < serving.size(); ++size) {
    EXPECT(!health::saysServing(serving.substr(0, size)));
  }
  EXPECT(!health::saysServing(framed(std::string("\x12\x7fx"))));
  EXPECT(!health::saysServing(framed(std::string("\x0b\x01"))));
}

TEST("A host that answers 200 is well, one that does not is not, and gets no requests") {
  Origin well(answering("well"));
  Origin unwell(saying("HTTP/1.1 503 No\r\ncontent-length: 0\r\n\r\n"));
  Proxy proxy(checkedPlan({well.port(), unwell.port()}, everyFewMs()));
  EXPECT(isChecked(proxy));
  EXPECT(becomes(proxy, 0, {}));
  EXPECT(becomes(proxy, 1, HealthFlag::FailedActive));
  EXPECT(proxy.stat("cluster.origin.membership_healthy") == 1u);
  EXPECT(proxy.waitFor("cluster.origin.health_check.healthy", 1));
  Socket client = proxy.connect();
  EXPECT(proxy.waitUntil([&] { return ask(client).ends_with("well"); }));
  for (int i = 0; i < 4; ++i) EXPECT(ask(client).ends_with("well"));
  EXPECT(proxy.waitUntil([&] { return proxy.stat("cluster.origin.health_check.success") > 5; }));
  // All of it on one connection, beside that of the requests.
  EXPECT(well.connections() == 2);
  EXPECT(proxy.stat("cluster.origin.health_check.network_failure") == 0u);
}

TEST(
    "An answer that ends its connection is as good as any other, each on a connection of its own") {
  Origin closing([](Socket& socket, int) {
    socket.readMessage();
    socket.write("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok");
  });
  Origin until_end([](Socket& socket, int) {
    socket.readMessage();
    socket.write("HTTP/1.1 200 OK\r\n\r\nok");
  });
  plan::HealthCheck check = everyFewMs();
  check.receive = {"ok"};
  Proxy proxy(checkedPlan({closing.port(), until_end.port()}, check));
  EXPECT(isChecked(proxy));
  EXPECT(proxy.waitUntil([&] { return proxy.stat("cluster.origin.health_check.success") > 6; }));
  EXPECT(proxy.stat("cluster.origin.health_check.failure") == 0u);
  EXPECT(becomes(proxy, 0, {}) && becomes(proxy, 1, {}));
  EXPECT(closing.connections() > 1);
}

TEST("Checks that are due at nearly the same time begin together") {
  // Each of 1,000 hosts once in a second: what would wake a thread 1,000 times wakes it 100 times.
  std::set<net::Millis> wakes;
  for (net::Millis due = 5'000; due < 6'000; ++due) {
    const net::Millis together = health::togetherWithOthers(due, 1000);
    EXPECT(together + 5 >= due && together <= due + 5);
    wakes.insert(together);
  }
  EXPECT(wakes.size() == 101u);
  // Rare ones by no more than 10 ms, frequent ones to the millisecond.
  EXPECT(health::togetherWithOthers(60'009, 60'000) == 60'000u);
  EXPECT(health::togetherWithOthers(60'011, 60'000) == 60'020u);
  EXPECT(health::togetherWithOthers(157, 100) == 157u);
}

TEST("Hosts are not well before their first check") {
  Origin slow([](Socket& socket, int) { socket.readAll(); });
  plan::HealthCheck check = everyFewMs();
  check.timeout_ms = 60'000;
  Proxy proxy(checkedPlan({slow.port()}, check));
  EXPECT(proxy.dataPlane().awaitsChecks());
  EXPECT(healthOf(proxy, 0) == HealthFlags(HealthFlag::FailedActive));
  plan::Update without = httpPlan({slow.port()});
  without.listeners.clear();
  without.route_tables.clear();
  EXPECT(proxy.dataPlane().apply(without).empty());
  EXPECT(!proxy.dataPlane().awaitsChecks());
  EXPECT(healthOf(proxy, 0).empty());
}

TEST("Checks that were quicker than the question for them count, unless they knew too little") {
  Origin well(answering("well"));
  plan::HealthCheck check = everyFewMs();
  check.interval_ms = check.no_traffic_interval_ms = check.no_traffic_healthy_interval_ms = 60'000;
  check.healthy_edge_interval_ms = 60'000;
  Proxy proxy(httpPlan({well.port()}));
  worker::DataPlane& plane = proxy.dataPlane();
  plan::Update next = checkedPlan({well.port()}, check);
  next.listeners.clear();
  next.route_tables.clear();
  next.clusters[0].awaits_hosts = true;
  EXPECT(plane.apply(next).empty());
  EXPECT(proxy.waitUntil([&] { return proxy.stat("cluster.origin.health_check.success") == 1; }));
  const auto isOver = [&] {
    plane.takeHealth();
    return !plane.awaitsRound("origin");
  };
  plane.beginRound("origin", false);
  ::usleep(20'000);
  EXPECT(!isOver());
  plane.beginRound("origin", true);
  EXPECT(proxy.waitUntil(isOver));
  EXPECT_EQ(proxy.stat("cluster.origin.health_check.attempt"), 1u);
}

TEST("A cluster in the place of one that was used is checked as often as a used one") {
  Origin origin(answering("well"));
  plan::HealthCheck check = everyFewMs();
  check.no_traffic_interval_ms = check.no_traffic_healthy_interval_ms = 60'000;
  for (const bool is_used : {false, true}) {
    Proxy proxy(httpPlan({origin.port()}));
    Socket client = proxy.connect();
    if (is_used) EXPECT(ask(client).starts_with("HTTP/1.1 200"));
    plan::Update next = checkedPlan({origin.port()}, check);
    next.listeners.clear();
    next.route_tables.clear();
    EXPECT(proxy.dataPlane().apply(next).empty());
    const auto attempts = [&] { return proxy.stat("cluster.origin.health_check.attempt"); };
    EXPECT(proxy.waitUntil([&] { return attempts() >= (is_used ? 4 : 1); }));
    if (is_used) continue;
    ::usleep(30'000);
    EXPECT_EQ(attempts(), 1u);
  }
}

TEST("A cluster waits for as many checks as it has hosts while the one before it goes on") {
  Origin before(answering("before"));
  Origin well(answering("well"));
  Origin slow([](Socket& socket, int) { socket.readAll(); });
  Proxy proxy(checkedPlan({before.port()}, everyFewMs()));
  worker::DataPlane& plane = proxy.dataPlane();
  EXPECT(isChecked(proxy));
  Socket client = proxy.connect();
  EXPECT(proxy.waitUntil([&] { return ask(client).ends_with("before"); }));
  plan::HealthCheck check = everyFewMs();
  check.timeout_ms = 60'000;
  plan::Update next = checkedPlan({slow.port()}, check);
  next.listeners.clear();
  next.route_tables.clear();
  next.clusters[0].awaits_hosts = true;
  EXPECT(plane.apply(next).empty());
  plane.beginRound("origin");
  EXPECT_EQ(proxy.stat("cluster.origin.membership_total"), 1u);
  EXPECT(plane.awaitsRound("origin") && plane.awaitsChecks());
  EXPECT(ask(client).ends_with("before"));
  // The one in use is checked still.
  const uint64_t checks = proxy.stat("cluster.origin.health_check.success");
  EXPECT(proxy.waitUntil(
      [&] { return proxy.stat("cluster.origin.health_check.success") > checks + 2; }));

  // Another in its place, one of whose hosts answers often.
  next = checkedPlan({slow.port(), well.port()}, check);
  next.listeners.clear();
  next.route_tables.clear();
  next.clusters[0].awaits_hosts = true;
  EXPECT(plane.apply(next).empty());
  EXPECT(plane.awaitsRound("origin"));
  plane.beginRound("origin");
  const auto isOver = [&] {
    plane.takeHealth();
    return !plane.awaitsRound("origin");
  };
  EXPECT(proxy.waitUntil(isOver));
  EXPECT(ask(client).ends_with("before"));
  EXPECT_EQ(proxy.stat("cluster.origin.membership_healthy"), 0u);
  plane.setWarming("origin", false);
  EXPECT_EQ(proxy.stat("cluster.origin.membership_healthy"), 1u);
  EXPECT(proxy.waitUntil([&] { return ask(client).ends_with("well"); }));
  EXPECT(healthOf(proxy, 0) == HealthFlags(HealthFlag::FailedActive) && healthOf(proxy, 1).empty());

  // Who goes before a check is over is not waited for.
  next = checkedPlan({slow.port()}, check);
  next.listeners.clear();
  next.route_tables.clear();
  next.clusters[0].awaits_hosts = true;
  EXPECT(plane.apply(next).empty());
  plane.beginRound("origin");
  plan::Update gone;
  gone.assignments = next.assignments;
  gone.assignments[0].hosts.clear();
  EXPECT(plane.apply(gone).empty());
  EXPECT(proxy.waitUntil(isOver));
  plane.setWarming("origin", false);
  EXPECT(!plane.awaitsChecks());
}

TEST("The end of a round is of the cluster that waited for it, not of the next at its address") {
  const auto inbox = std::make_shared<upstream::HealthInbox>(nullptr);
  health::Checker checker(inbox);
  std::optional<upstream::Cluster> place;
  const auto live = [&place] {
    place.emplace(plan::Cluster(),
                  std::make_shared<stats::Block<stats::Cluster>>(stats::clusterScope("origin"), 2));
    return &*place;
  };
  const upstream::Cluster* const former = live();
  checker.beginRound(former->life(), false);
  const upstream::Cluster* const next = live();
  EXPECT(next == former);
  const auto heard = inbox->take();
  EXPECT(heard.size() == 1 && heard[0].ends_round);
  EXPECT(heard[0].cluster != next->life());
}

TEST("A round that has ended unheard ends none of those that wait in its cluster's place") {
  Origin well(answering("well"));
  Origin slow([](Socket& socket, int) { socket.readAll(); });
  plan::HealthCheck check = everyFewMs();
  check.timeout_ms = 60'000;
  Proxy proxy(checkedPlan({slow.port()}, check));
  worker::DataPlane& plane = proxy.dataPlane();
  const auto wait = [&](const Origin& origin) {
    plan::Update next = checkedPlan({origin.port()}, check);
    next.listeners.clear();
    next.route_tables.clear();
    next.clusters[0].awaits_hosts = true;
    EXPECT(plane.apply(next).empty());
    plane.beginRound("origin");
  };
  wait(well);
  EXPECT(proxy.waitUntil([&] { return proxy.stat("cluster.origin.health_check.success") > 0; }));
  wait(slow);
  plane.takeHealth();
  EXPECT(plane.awaitsRound("origin"));
}

TEST("A check that takes too long is a failure of its own kind") {
  Origin silent([](Socket& socket, int) { socket.readAll(); });
  plan::HealthCheck check = everyFewMs();
  check.timeout_ms = 5;
  Proxy proxy(checkedPlan({silent.port()}, check));
  EXPECT(becomes(proxy, 0, HealthFlag::FailedActive | HealthFlag::ActiveTimeout));
  EXPECT(proxy.waitUntil(
      [&] { return proxy.stat("cluster.origin.health_check.network_failure") > 2; }));
}

TEST("Whatever a host answers that is not HTTP, its check fails and the next one comes") {
  const std::vector<std::string> answers = {
      "",
      "\r\n\r\n",
      "HTTP/1.1 \r\n\r\n",
      "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
      "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nshort",
      "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
      "HTTP/1.1 101 Switching Protocols\r\n\r\n",
      std::string("\0\0\0\4\0\0\0\0\0", 9),
      std::string(100'000, 'x'),
  };
  for (const std::string& answer : answers) {
    Origin odd([answer](Socket& socket, int) {
      socket.readMessage();
      socket.write(answer);
    });
    Proxy proxy(checkedPlan({odd.port()}, everyFewMs()));
    EXPECT(isChecked(proxy));
    EXPECT(proxy.waitUntil([&] { return proxy.stat("cluster.origin.health_check.failure") > 2; }));
    EXPECT(proxy.stat("cluster.origin.health_check.success") == 0u);
  }
}

TEST("A TCP check wants what is expected to come, and nothing but a connection otherwise") {
  Origin right(greeting("READY"));
  Origin wrong(greeting("NOT"));
  plan::HealthCheck check = everyFewMs(plan::HealthCheck::Kind::Tcp);
  check.receive = {"RE", "Y"};
  check.timeout_ms = 20;
  check.reuses_connection = false;
  {
    Proxy proxy(checkedPlan({right.port(), wrong.port()}, check));
    EXPECT(becomes(proxy, 1, HealthFlag::FailedActive | HealthFlag::ActiveTimeout));
    EXPECT(proxy.waitUntil([&] {
      proxy.dataPlane().takeHealth();
      return proxy.stat("cluster.origin.health_check.success") > 2;
    }));
  }
  check.receive.clear();
  Proxy proxy(checkedPlan({right.port(), wrong.port()}, check));
  EXPECT(becomes(proxy, 0, {}) && becomes(proxy, 1, {}));
}

TEST("Why a host is unwell makes no lists of hosts anew") {
  std::atomic<bool> answers{true};
  Origin unwell([&answers](Socket& socket, int) {
    while (!socket.readMessage().empty()) {
      if (answers) socket.write("HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n");
    }
  });
  plan::HealthCheck check = everyFewMs();
  check.timeout_ms = 20;
  Proxy proxy(checkedPlan({unwell.port()}, check));
  EXPECT(isChecked(proxy));
  const auto hosts = [&proxy] { return proxy.dataPlane().clusters().at("origin")->hosts(); };
  const auto before = hosts();
  answers = false;
  EXPECT(becomes(proxy, 0, HealthFlag::FailedActive | HealthFlag::ActiveTimeout));
  EXPECT(hosts() == before);
}

TEST("A body that is not the one counts at once, whatever its status") {
  Origin wrong([](Socket& socket, int) {
    while (!socket.readMessage().empty()) {
      socket.write(
          "HTTP/1.1 503 No\r\nx-envoy-immediate-health-check-fail: 1\r\n"
          "content-length: 2\r\n\r\nno");
    }
  });
  plan::HealthCheck check = everyFewMs();
  check.unhealthy_threshold = 1'000'000;
  check.retriable = {{503, 504}};
  check.receive = {"ok"};
  Proxy proxy(httpPlan({wrong.port()}));
  plan::Update checked = checkedPlan({wrong.port()}, check);
  checked.listeners.clear();
  checked.route_tables.clear();
  EXPECT(proxy.dataPlane().apply(checked).empty());
  EXPECT(becomes(proxy, 0, HealthFlag::FailedActive | HealthFlag::ExcludedImmediately));
}

TEST("It takes as many failures of the network as configured") {
  Origin gone([](Socket&, int) {});
  plan::HealthCheck check = everyFewMs();
  check.unhealthy_threshold = 3;
  plan::Update plan = httpPlan({gone.port()});
  Proxy proxy(plan);
  plan::Update checked = checkedPlan({gone.port()}, check);
  checked.listeners.clear();
  checked.route_tables.clear();
  EXPECT(proxy.dataPlane().apply(checked).empty());
  EXPECT(proxy.waitUntil([&] { return proxy.stat("cluster.origin.health_check.failure") > 4; }));
  EXPECT(becomes(proxy, 0, HealthFlag::FailedActive));
  EXPECT(proxy.stat("cluster.origin.health_check.success") == 0u);
}

TEST("A host that says in an answer that it is not well is believed") {
  Origin origin([](Socket& socket, int) {
    for (std::string request = socket.readMessage(); !request.empty();
         request = socket.readMessage()) {
      const bool is_check = request.starts_with("GET /hc ");
      socket.write(is_check ? std::string(kOk)
                            : "HTTP/1.1 200 OK\r\nx-envoy-immediate-health-check-fail: 1\r\n"
                              "content-length: 0\r\n\r\n");
    }
  });
  plan::HealthCheck check = everyFewMs();
  // The next one is not soon.
  check.interval_ms = check.no_traffic_interval_ms = check.no_traffic_healthy_interval_ms = 60'000;
  Proxy proxy(checkedPlan({origin.port()}, check));
  EXPECT(isChecked(proxy));
  EXPECT(becomes(proxy, 0, {}));
  Socket client = proxy.connect();
  EXPECT(ask(client).starts_with("HTTP/1.1 200"));
  EXPECT(becomes(proxy, 0, HealthFlag::FailedActive | HealthFlag::ExcludedImmediately));
  EXPECT(proxy.stat("cluster.origin.health_check.passive_failure") == 1u);
  EXPECT(proxy.stat("cluster.origin.membership_excluded") == 1u);
}

TEST("Hosts that discovery names no more stay while they are well") {
  Origin stays(answering("stays"));
  std::atomic<bool> is_well{true};
  Origin goes([&is_well](Socket& socket, int) {
    while (!socket.readMessage().empty()) {
      socket.write(is_well ? kOk : "HTTP/1.1 500 No\r\ncontent-length: 0\r\n\r\n");
    }
  });
  plan::Update plan = checkedPlan({stays.port(), goes.port()}, everyFewMs());
  plan.clusters[0].is_discovered = plan.clusters[0].keeps_well_hosts = true;
  Proxy proxy(plan);
  EXPECT(becomes(proxy, 0, {}) && becomes(proxy, 1, {}));
  plan::Update fewer;
  fewer.assignments = {hostsOn({stays.port()})};
  EXPECT(proxy.dataPlane().apply(fewer).empty());
  EXPECT(healthOf(proxy, 1) == HealthFlags(HealthFlag::PendingRemoval));
  EXPECT(proxy.stat("cluster.origin.membership_total") == 2u);
  is_well = false;
  EXPECT(proxy.waitUntil([&] {
    proxy.dataPlane().takeHealth();
    return proxy.stat("cluster.origin.membership_total") == 1;
  }));
  EXPECT(proxy.stat("cluster.origin.membership_healthy") == 1u);
}

}  // namespace fairlead::test
