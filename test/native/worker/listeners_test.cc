// Listeners and filter chains that come, change and go while clients are connected.
#include <sys/stat.h>

#include <atomic>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "test/native/support/exchange.h"
#include "test/native/support/origin.h"
#include "test/native/support/proxy.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

bool asksToLeave(const std::string& answer) {
  return answer.find("\r\nconnection: close\r\n") != std::string::npos;
}

// The plan's listener and its chain have ids; their connections do not end by themselves.
plan::Update changeablePlan(const std::vector<uint16_t>& hosts) {
  plan::Update plan = httpPlan(hosts);
  plan.listeners[0].id = 1;
  plan.listeners[0].filter_chains[0].id = 1;
  plan.listeners[0].filter_chains[0].http->drain_timeout_ms = 60'000;
  return plan;
}

plan::Listener listenerOf(const plan::Update& plan, uint64_t id) {
  plan::Listener listener = plan.listeners[0];
  listener.id = id;
  listener.filter_chains[0].id = 1000 + id;
  return listener;
}

plan::Update putting(plan::Listener listener) {
  plan::Update update;
  update.listeners = {std::move(listener)};
  return update;
}

plan::Update removing(const std::string& name) {
  plan::Update update;
  update.removed_listeners = {name};
  return update;
}

plan::Update endingOf(std::vector<uint64_t> listeners, std::vector<uint64_t> chains) {
  plan::Update update;
  update.ended_listeners = std::move(listeners);
  update.ended_filter_chains = std::move(chains);
  return update;
}

// The listener "in" with that chain alone, and one that takes connections from port 1.
plan::Update chainsOf(plan::FilterChain chain, std::vector<plan::FilterChain> from_nowhere = {}) {
  plan::Update update;
  plan::FilterChains& chains = update.filter_chains.emplace_back();
  chains.listener = "in";
  for (plan::FilterChain& one : from_nowhere) {
    one.match.emplace().source_ports = {static_cast<uint32_t>(1 + chains.filter_chains.size())};
    chains.filter_chains.push_back(std::move(one));
  }
  chains.filter_chains.push_back(std::move(chain));
  return update;
}

plan::FilterChain directChain(uint64_t id, std::string body) {
  plan::FilterChain chain;
  chain.id = id;
  chain.direct_response.emplace().body = std::move(body);
  return chain;
}

uint16_t portOf(Proxy& proxy, const std::string& name) {
  for (const worker::BoundListener& one : proxy.dataPlane().listeners()) {
    if (one.name == name) return one.address.port();
  }
  return 0;
}

std::set<ino_t> socketsOf(Proxy& proxy) {
  std::set<ino_t> sockets;
  for (const worker::PassedSocket& passed : proxy.dataPlane().listenSockets().all()) {
    struct stat status;
    ::fstat(passed.socket->get(), &status);
    sockets.insert(status.st_ino);
  }
  return sockets;
}

bool apply(Proxy& proxy, const plan::Update& update) {
  const auto errors = proxy.dataPlane().apply(update);
  for (const auto& error : errors) std::fprintf(stderr, "  %s\n", error.message.c_str());
  return errors.empty();
}

// What drained has been ended by all workers.
bool isAllEnded(Proxy& proxy) {
  return proxy.waitUntil([&] {
    proxy.dataPlane().refreshStats();
    return proxy.stat("listener_manager.total_listeners_draining") == 0 &&
           proxy.stat("listener_manager.total_filter_chains_draining") == 0;
  });
}

}  // namespace

TEST("A listener that comes takes connections; removed it refuses them, asks to leave, and ends") {
  Origin origin(answering("hello"));
  const plan::Update plan = changeablePlan({origin.port()});
  Proxy proxy(plan, 2);
  plan::Listener late = listenerOf(plan, 7);
  late.name = late.stat_name = "late";
  EXPECT(apply(proxy, putting(late)));
  EXPECT_EQ(proxy.stat("listener_manager.listener_added"), 2u);
  EXPECT_EQ(proxy.stat("listener_manager.total_listeners_active"), 2u);
  const uint16_t port = portOf(proxy, "late");
  Socket client = Socket::connect(port);
  Socket idle = Socket::connect(port);
  EXPECT(!asksToLeave(ask(client)));
  EXPECT(!asksToLeave(ask(idle)));

  EXPECT(apply(proxy, removing("late")));
  EXPECT_EQ(proxy.stat("listener_manager.listener_removed"), 1u);
  EXPECT_EQ(proxy.stat("listener_manager.total_listeners_draining"), 1u);
  EXPECT(proxy.waitUntil([&] { return !Socket::connect(port).isOpen(); }));
  EXPECT(asksToLeave(ask(client)));
  EXPECT_EQ(proxy.stat("listener.late.downstream_cx_active"), 2u);
  EXPECT(apply(proxy, endingOf({7}, {})));
  EXPECT_EQ(idle.readAll(), std::string());
  EXPECT_EQ(client.readAll(), std::string());
  EXPECT(isAllEnded(proxy));
  // Nothing is left of it, nor of its statistics.
  EXPECT(proxy.waitUntil([&] {
    proxy.dataPlane().refreshStats();
    return !proxy.dataPlane().stats().value("listener.late.downstream_cx_total");
  }));
  EXPECT_EQ(proxy.dataPlane().listeners().size(), 1u);
  Socket other = proxy.connect();
  EXPECT(ask(other).ends_with("hello"));
}

TEST("A chain that stays keeps its connections while others come and go on the same sockets") {
  Origin origin(answering("hello"));
  const plan::Update plan = changeablePlan({origin.port()});
  Proxy proxy(plan);
  const std::set<ino_t> sockets = socketsOf(proxy);
  Socket first = proxy.connect();
  EXPECT(ask(first).ends_with("hello"));
  // It is for clients from elsewhere from here on.
  EXPECT(apply(proxy, chainsOf(directChain(2, "two"), {plan.listeners[0].filter_chains[0]})));
  EXPECT(proxy.waitUntil([&] { return proxy.connect().readAll() == "two"; }));
  EXPECT(!asksToLeave(ask(first)));
  EXPECT_EQ(proxy.stat("listener_manager.listener_in_place_updated"), 1u);
  EXPECT_EQ(proxy.stat("listener_manager.listener_modified"), 1u);
  EXPECT_EQ(proxy.stat("listener_manager.total_filter_chains_draining"), 0u);
  EXPECT(socketsOf(proxy) == sockets);

  EXPECT(apply(proxy, chainsOf(directChain(3, "three"))));
  EXPECT_EQ(proxy.stat("listener_manager.total_filter_chains_draining"), 2u);
  EXPECT(proxy.waitUntil([&] { return asksToLeave(ask(first)); }));
  // An end of others is none of its.
  EXPECT(apply(proxy, endingOf({1}, {2, 3, 99})));
  EXPECT(asksToLeave(ask(first)));
  EXPECT(apply(proxy, endingOf({}, {1})));
  EXPECT_EQ(first.readAll(), std::string());
  EXPECT(isAllEnded(proxy));
  EXPECT_EQ(proxy.connect().readAll(), std::string("three"));
  EXPECT(socketsOf(proxy) == sockets);
}

TEST("A connection of a chain that ends while its request is under way ends with it") {
  std::atomic<bool> go = false;
  Origin origin([&go](Socket& socket, int) {
    socket.readMessage();
    while (!go) std::this_thread::yield();
    socket.readAll();
  });
  Proxy proxy(changeablePlan({origin.port()}));
  Socket client = proxy.connect();
  client.write(kGet);
  EXPECT(proxy.waitFor("cluster.origin.upstream_rq_active", 1));
  EXPECT(apply(proxy, chainsOf(directChain(2, "two"))));
  EXPECT(apply(proxy, endingOf({}, {1})));
  EXPECT_EQ(client.readAll(), std::string());
  go = true;
  EXPECT(isAllEnded(proxy));
}

TEST(
    "A listener that takes another's place has its sockets; clients of before are asked to leave") {
  Origin origin(answering("hello"));
  const plan::Update plan = changeablePlan({origin.port()});
  Proxy proxy(plan, 2);
  const std::set<ino_t> sockets = socketsOf(proxy);
  Socket before = proxy.connect();
  EXPECT(!asksToLeave(ask(before)));
  plan::Listener next = listenerOf(plan, 2);
  next.per_connection_buffer_limit_bytes = 1234;
  EXPECT(apply(proxy, putting(next)));
  EXPECT(socketsOf(proxy) == sockets);
  EXPECT_EQ(portOf(proxy, "in"), proxy.port());
  EXPECT(asksToLeave(ask(before)));
  Socket after = proxy.connect();
  EXPECT(!asksToLeave(ask(after)));
  EXPECT_EQ(proxy.stat("listener_manager.listener_modified"), 1u);
  EXPECT_EQ(proxy.stat("listener_manager.listener_in_place_updated"), 0u);
  EXPECT_EQ(proxy.stat("listener_manager.total_listeners_active"), 1u);
  EXPECT_EQ(proxy.stat("listener_manager.total_listeners_draining"), 1u);
  EXPECT(apply(proxy, endingOf({1}, {})));
  EXPECT_EQ(before.readAll(), std::string());
  EXPECT(isAllEnded(proxy));
  EXPECT(!asksToLeave(ask(after)));
}

TEST("A listener that moves to another address leaves its old one, with who waits there served") {
  Origin origin(answering("hello"));
  const plan::Update plan = changeablePlan({origin.port()});
  Proxy proxy(plan, 2);
  // A port of its own choice is another address than the kernel's.
  plan::Listener next = listenerOf(plan, 2);
  next.address->ip = std::string("\x7f\0\0\2", 4);
  EXPECT(apply(proxy, putting(next)));
  EXPECT_EQ(proxy.dataPlane().listeners().size(), 1u);
  EXPECT(proxy.waitUntil([&] { return !proxy.connect().isOpen(); }));
  EXPECT(apply(proxy, endingOf({1}, {})));
  EXPECT(isAllEnded(proxy));
}

TEST("What cannot be bound or built changes nothing: the last good one goes on") {
  Origin origin(answering("hello"));
  const plan::Update plan = changeablePlan({origin.port()});
  Proxy proxy(plan);
  Socket client = proxy.connect();
  plan::Listener unbindable = listenerOf(plan, 2);
  // TEST-NET-1 is nobody's.
  unbindable.address->ip = std::string("\xc0\0\2\1", 4);
  const auto errors = proxy.dataPlane().apply(putting(unbindable));
  EXPECT_EQ(errors.size(), 1u);
  EXPECT(errors[0].message.find("cannot bind '192.0.2.1:0'") != std::string::npos);
  EXPECT_EQ(proxy.stat("listener_manager.listener_create_failure"), 1u);
  plan::Listener broken = listenerOf(plan, 3);
  broken.filter_chains[0].http->http_filters.resize(64);
  EXPECT_EQ(proxy.dataPlane().apply(putting(broken)).size(), 1u);
  plan::Update chains = chainsOf(broken.filter_chains[0]);
  EXPECT_EQ(proxy.dataPlane().apply(chains).size(), 1u);
  chains.filter_chains[0].listener = "nobody";
  EXPECT_EQ(proxy.dataPlane().apply(chains).size(), 1u);

  EXPECT(!asksToLeave(ask(client)));
  Socket next = proxy.connect();
  EXPECT(ask(next).ends_with("hello"));
  EXPECT_EQ(proxy.stat("listener_manager.total_listeners_draining"), 0u);
  EXPECT_EQ(proxy.dataPlane().listenSockets().all().size(), 1u);
}

TEST("An address that is free from here on is taken in the same update, shared port or not") {
  Origin origin(answering("hello"));
  for (const bool shares : {true, false}) {
    plan::Update plan = changeablePlan({origin.port()});
    plan.listeners[0].reuse_port = shares;
    Proxy proxy(plan, 2);
    // The same port by its number.
    plan::Listener fixed = listenerOf(plan, 2);
    fixed.name = "fixed";
    fixed.address->port = proxy.port();
    plan::Update update = putting(fixed);
    update.removed_listeners = {"in"};
    for (uint64_t id = 2; id < 40; id += 2) {
      if (id == 2) {
        // From the kernel's choice to a number: another address, which two cannot have without
        // sharing it.
        if (!shares) EXPECT(apply(proxy, removing("in")));
        if (!shares) EXPECT(proxy.waitUntil([&] { return !proxy.connect().isOpen(); }));
      } else {
        update.removed_listeners = {update.listeners[0].name};
        update.listeners[0].name = "fixed" + std::to_string(id);
        update.listeners[0].id = id;
        update.listeners[0].filter_chains[0].id = 1000 + id;
      }
      EXPECT(apply(proxy, update));
      Socket client = proxy.connect();
      EXPECT(ask(client).ends_with("hello"));
    }
  }
}

TEST("Drained listeners and chains are not drained anew, and a stopped direction stays as it is") {
  Origin origin(answering("hello"));
  const plan::Update plan = changeablePlan({origin.port()});
  Proxy proxy(plan);
  Socket client = proxy.connect();
  EXPECT(!asksToLeave(ask(client)));
  EXPECT(apply(proxy, chainsOf(listenerOf(plan, 2).filter_chains[0])));
  // A cancelled drain of all is none of chains that have gone.
  proxy.dataPlane().startDrain(worker::DrainScope::All, {0, 0});
  proxy.dataPlane().cancelDrain();
  EXPECT(proxy.waitUntil([&] { return asksToLeave(ask(client)); }));
  proxy.dataPlane().stopListening(worker::DrainScope::All);
  EXPECT(apply(proxy, putting(listenerOf(plan, 3))));
  EXPECT(apply(proxy, chainsOf(directChain(4, "four"))));
  EXPECT_EQ(proxy.stat("listener_manager.listener_modified"), 1u);
  EXPECT(apply(proxy, removing("in")));
  EXPECT(apply(proxy, removing("in")));
  EXPECT_EQ(proxy.stat("listener_manager.listener_removed"), 1u);
  EXPECT(apply(proxy, endingOf({1}, {1})));
  EXPECT_EQ(client.readAll(), std::string());
  EXPECT(isAllEnded(proxy));
}

TEST("What is handed over while it drains ends, and what is taken back is the latest") {
  Origin origin(answering("hello"));
  const plan::Update plan = changeablePlan({origin.port()});
  Proxy proxy(plan, 2);
  const std::string address = "127.0.0.1:" + std::to_string(proxy.port());
  Socket before = proxy.connect();
  EXPECT(!asksToLeave(ask(before)));
  EXPECT(apply(proxy, putting(listenerOf(plan, 2))));
  proxy.dataPlane().handOver({address}).wait();
  EXPECT(asksToLeave(ask(before)));
  EXPECT(apply(proxy, endingOf({1}, {})));
  EXPECT_EQ(before.readAll(), std::string());
  EXPECT(proxy.dataPlane().takeBack().empty());
  Socket after = proxy.connect();
  EXPECT(ask(after).ends_with("hello"));
}

TEST("Through 1,000 random changes of listeners and chains every client is answered, to no leak") {
  Origin origin(answering("hello"));
  const plan::Update plan = changeablePlan({origin.port()});
  Proxy proxy(plan, 2);
  std::atomic<bool> over{false};
  std::atomic<int> answers{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 2; ++i) {
    clients.emplace_back([&] {
      while (!over) {
        Socket client = proxy.connect();
        EXPECT(client.isOpen());
        for (int n = 0; n < 10 && !over; ++n) {
          const std::string answer = ask(client);
          // Its chain has ended: who asks then has waited longer than the drain took.
          if (answer.empty()) break;
          EXPECT(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("hello"));
          ++answers;
          if (asksToLeave(answer)) break;
        }
      }
    });
  }
  std::mt19937 random(11);
  std::vector<uint64_t> draining;
  std::vector<uint64_t> draining_chains;
  uint64_t current = 1;
  std::vector<uint64_t> chains = {1};
  for (uint64_t id = 2; id < 1002 || answers < 500; ++id) {
    plan::Update update;
    const plan::Listener listener = listenerOf(plan, id);
    switch (random() % 4) {
      case 0:
        update = putting(listener);
        draining.push_back(std::exchange(current, id));
        chains = {1000 + id};
        break;
      case 1: {
        std::vector<plan::FilterChain> kept;
        if (random() % 2) {
          kept = {plan.listeners[0].filter_chains[0]};
          kept[0].id = chains.back();
        } else {
          draining_chains.push_back(chains.back());
        }
        chains.pop_back();
        draining_chains.insert(draining_chains.end(), chains.begin(), chains.end());
        chains.clear();
        for (const auto& chain : kept) chains.push_back(chain.id);
        chains.push_back(1000 + id);
        update = chainsOf(listener.filter_chains[0], kept);
        break;
      }
      case 2: {
        plan::Listener passing = listener;
        passing.name = passing.stat_name = "passing" + std::to_string(random() % 3);
        update = putting(passing);
        const uint16_t known = portOf(proxy, passing.name);
        if (known) update.removed_listeners = {passing.name};
        break;
      }
      default:
        update = endingOf(std::exchange(draining, {}), std::exchange(draining_chains, {}));
    }
    EXPECT(apply(proxy, update));
  }
  over = true;
  for (std::thread& client : clients) client.join();
  // All that was ever replaced.
  for (uint64_t id = 1; id < 5000; ++id) {
    if (id != current) draining.push_back(id);
    draining_chains.push_back(id);
  }
  EXPECT(apply(proxy, endingOf(draining, draining_chains)));
  EXPECT(isAllEnded(proxy));
  proxy.expectQuiet();
}

}  // namespace fairlead::test
