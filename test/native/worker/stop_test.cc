// The end of a data plane: its workers end side by side, while the control thread goes on.
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "test/native/support/origin.h"
#include "test/native/support/proxy.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

using Clock = std::chrono::steady_clock;

// Takes requests, and answers none.
Origin::Script silent() {
  return [](Socket& socket, int) { socket.readAll(); };
}

// Enough of them that each worker has some.
std::vector<Socket> requestsOn(Proxy& proxy, size_t count) {
  std::vector<Socket> clients(count);
  for (Socket& client : clients) {
    client = proxy.connect();
    client.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
  }
  EXPECT(proxy.waitFor("http.in.downstream_rq_active", count));
  return clients;
}

}  // namespace

TEST("Four workers wait for their last answers together, not one after the other") {
  Origin origin(silent());
  Proxy proxy(httpPlan({origin.port()}), 4);
  const std::vector<Socket> clients = requestsOn(proxy, 64);
  const Clock::time_point start = Clock::now();
  proxy.stop();
  // Each waits for 250 ms.
  EXPECT(Clock::now() - start < std::chrono::milliseconds(800));
}

TEST("Whatever the control thread does while workers end is refused or comes to nothing") {
  Origin origin(silent());
  const plan::Update plan = httpPlan({origin.port()});
  plan::Update update;
  update.clusters = plan.clusters;
  update.assignments = plan.assignments;
  update.listeners = plan.listeners;
  Proxy proxy(plan, 2);
  worker::DataPlane& plane = proxy.dataPlane();
  const std::vector<Socket> clients = requestsOn(proxy, 16);
  plane.beginStop();
  std::atomic<bool> over{false};
  std::thread waiting([&] {
    plane.awaitStop();
    over = true;
  });
  const auto expectRefused = [&plane, &update] {
    const std::vector<worker::ApplyError> errors = plane.apply(update);
    EXPECT_EQ(errors.size(), 1u);
    EXPECT_EQ(std::string(errors[0].kind), std::string("plan"));
    EXPECT_EQ(errors[0].message, std::string("the proxy is stopping: nothing is applied any more"));
    EXPECT_EQ(plane.start().size(), 1u);
    EXPECT_EQ(plane.takeBack().size(), 1u);
    EXPECT(plane.profileCpu() == nullptr);
    plane.handOver({}).wait();
    plane.stopListening(worker::DrainScope::All);
    plane.startDrain(worker::DrainScope::All, {0, 10});
    plane.refreshStats();
    plane.reopenLogs();
  };
  while (!over) expectRefused();
  waiting.join();
  expectRefused();
  plane.endStop();
  expectRefused();
  EXPECT_EQ(plane.clusters().size(), 1u);
}

TEST("A data plane that never started ends at once, and may be ended twice") {
  worker::DataPlane plane({.workers = 2});
  EXPECT(plane.apply(httpPlan({1})).empty());
  plane.stop();
  plane.stop();
}

}  // namespace fairlead::test
