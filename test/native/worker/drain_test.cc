// Which listeners drain, and what their clients see of it.
#include "worker/drain.h"

#include <atomic>
#include <thread>

#include "test/native/support/exchange.h"
#include "test/native/support/origin.h"
#include "test/native/support/proxy.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

using net::DrainDecision;
using worker::Drain;
using worker::DrainScope;
using worker::DrainStrategy;
using Direction = plan::Listener::Direction;
using DrainType = plan::Listener::DrainType;

struct Joined {
  Joined(Drain& drain, Direction direction, DrainType type = DrainType::Default) {
    plan::Listener plan;
    plan.direction = direction;
    plan.drain_type = type;
    drain.join(plan, decision);
  }
  bool closes() const {
    Random random;
    return decision->shouldClose(1, random);
  }
  std::shared_ptr<DrainDecision> decision = std::make_shared<DrainDecision>();
};

bool saysClose(const std::string& answer) {
  return answer.find("\r\nconnection: close\r\n") != std::string::npos;
}

plan::Update quickPlan(uint16_t port) {
  plan::Update plan = httpPlan({port});
  plan.listeners[0].filter_chains[0].http->drain_timeout_ms = 100;
  return plan;
}

}  // namespace

TEST("An inbound drain leaves other listeners alone, a later one of all takes them too") {
  Drain drain;
  const Joined inbound(drain, Direction::Inbound);
  const Joined outbound(drain, Direction::Outbound);
  const Joined unspecified(drain, Direction::Unspecified);
  drain.start(DrainScope::Inbound, {0, 0});
  EXPECT(inbound.closes());
  EXPECT(!outbound.closes());
  EXPECT(!unspecified.closes());
  drain.start(DrainScope::All, {0, 0});
  EXPECT(outbound.closes());
  EXPECT(unspecified.closes());
}

TEST("A health check that fails drains listeners of the default type, until it is well again") {
  Drain drain;
  const Joined usual(drain, Direction::Unspecified);
  const Joined modify_only(drain, Direction::Unspecified, DrainType::ModifyOnly);
  drain.setHealthCheckFailed(true);
  EXPECT(usual.closes());
  EXPECT(!modify_only.closes());
  drain.setHealthCheckFailed(false);
  EXPECT(!usual.closes());
  drain.start(DrainScope::All, {0, 0});
  EXPECT(modify_only.closes());
}

TEST("A listener that comes during a drain drains with the others") {
  Drain drain;
  drain.start(DrainScope::All, {0, 0});
  EXPECT(Joined(drain, Direction::Unspecified).closes());
}

TEST("A direction that is stopped takes no new listeners") {
  Drain drain;
  drain.stop(DrainScope::Inbound);
  EXPECT(drain.isStopped(Direction::Inbound));
  EXPECT(!drain.isStopped(Direction::Unspecified));
  drain.stop(DrainScope::All);
  EXPECT(drain.isStopped(Direction::Outbound));
}

TEST("Half a drain time after its start a gradual drain has reached everybody") {
  EXPECT_EQ(worker::drainRamp(10, DrainStrategy::Gradual).full_after_s, 5u);
  EXPECT_EQ(worker::drainRamp(7, DrainStrategy::Gradual).full_after_s, 4u);
  EXPECT_EQ(worker::drainRamp(1, DrainStrategy::Gradual).full_after_s, 1u);
  EXPECT_EQ(worker::drainRamp(600, DrainStrategy::Immediate).full_after_s, 0u);
}

TEST(
    "Draining asks clients to close, answers what they still ask, and ends after the drain "
    "timeout") {
  Origin origin(answering("ok"));
  Proxy proxy(quickPlan(origin.port()));
  Socket idle = proxy.connect();
  Socket client = proxy.connect();
  client.write(kGet);
  EXPECT(!saysClose(client.readMessage()));
  proxy.dataPlane().startDrain(DrainScope::All, {0, 0});
  client.write(kGet);
  EXPECT(saysClose(client.readMessage()));
  client.write(kGet);
  EXPECT(saysClose(client.readMessage()));
  EXPECT_EQ(client.readAll(), std::string());
  EXPECT_EQ(proxy.stat("http.in.downstream_cx_drain_close"), 1u);
  // One that was idle all the time is only asked when it has something to ask.
  idle.write(kGet);
  EXPECT(saysClose(idle.readMessage()));
  idle.close();
  EXPECT_EQ(proxy.stat("http.in.downstream_cx_drain_close"), 2u);
  // New connections are taken as before.
  Socket late = proxy.connect();
  late.write(kGet);
  EXPECT(saysClose(late.readMessage()));
}

TEST("A request that is under way when the drain timeout ends is answered whole") {
  std::atomic<bool> go = false;
  Origin origin([&](Socket& socket, int connection) {
    socket.readMessage();
    socket.write("HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nab");
    while (connection == 0 && !go) std::this_thread::yield();
    socket.write("cd");
    socket.readAll();
  });
  Proxy proxy(quickPlan(origin.port()));
  proxy.dataPlane().startDrain(DrainScope::All, {0, 0});
  Socket client = proxy.connect();
  client.write(kGet);
  EXPECT(saysClose(client.readUntil("\r\n\r\nab")));
  // The drain timeout of a connection that came later ends later.
  Socket later = proxy.connect();
  later.write(kGet);
  EXPECT(later.readAll().ends_with("abcd"));
  go = true;
  EXPECT_EQ(client.readAll(), std::string("cd"));
}

TEST("A client that asks to close is not kept waiting by a drain") {
  Origin origin(answering("ok"));
  plan::Update plan = httpPlan({origin.port()});
  plan.listeners[0].filter_chains[0].http->drain_timeout_ms = 3'600'000;
  Proxy proxy(plan);
  proxy.dataPlane().startDrain(DrainScope::All, {0, 0});
  Socket client = proxy.connect();
  client.write("GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n");
  EXPECT(client.readAll().ends_with("\r\n\r\nok"));
}

TEST("Stopping closes the port and keeps connections; it counts each listener once") {
  Origin origin(answering("ok"));
  Proxy proxy(httpPlan({origin.port()}), 2);
  Socket client = proxy.connect();
  client.write(kGet);
  client.readMessage();
  // Not inbound.
  proxy.dataPlane().stopListening(DrainScope::Inbound);
  EXPECT_EQ(proxy.stat("listener_manager.listener_stopped"), 0u);
  proxy.dataPlane().stopListening(DrainScope::All);
  proxy.dataPlane().stopListening(DrainScope::All);
  EXPECT_EQ(proxy.stat("listener_manager.listener_stopped"), 1u);
  EXPECT(proxy.waitUntil([&] { return !proxy.connect().isOpen(); }));
  client.write(kGet);
  EXPECT(client.readMessage().ends_with("\r\n\r\nok"));
}

TEST("A listener that is added in a stopped direction is left out") {
  Origin origin(answering("ok"));
  const plan::Update plan = httpPlan({origin.port()});
  Proxy proxy(plan);
  proxy.dataPlane().stopListening(DrainScope::All);
  plan::Update later;
  later.listeners.push_back(plan.listeners[0]);
  EXPECT(proxy.dataPlane().apply(later).empty());
  EXPECT_EQ(proxy.dataPlane().listeners().size(), 1u);
  EXPECT_EQ(proxy.stat("listener_manager.listener_added"), 1u);
}

}  // namespace fairlead::test
