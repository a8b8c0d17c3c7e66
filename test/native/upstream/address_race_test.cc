// Connections to hosts with several addresses, on a loop of the test's own: who wins the race.
#include "upstream/address_race.h"

#include <arpa/inet.h>

#include <memory>
#include <string>
#include <vector>

#include "test/native/http/http1/peer.h"
#include "test/native/support/socket.h"
#include "test/native/test.h"

namespace fairlead::upstream {

namespace {

using http1::pass;

plan::Address loopback(uint16_t port) {
  plan::Address address;
  address.ip = std::string("\x7f\0\0\1", 4);
  address.port = port;
  return address;
}

// Nobody answers there: no connection of this test's gets an answer from a queue that is full.
class Handler final : public net::ConnectionHandler {
 public:
  void onReady(int error) override {
    ++told;
    this->error = error;
  }
  void onReadable() override {}
  void onWritable() override {}
  void onDrained() override {}
  void onBelowLowWatermark() override {}
  void onWriteFailed() override {}

  int told = 0;
  int error = 0;
};

struct Race {
  Race(net::Loop& loop, const std::vector<plan::Address>& addresses, plan::Cluster plan = {})
      : settings(std::move(plan)) {
    net::FileDescriptor fd;
    ConnectionUse use;
    use.stats = counters->shard(0);
    use.host_counters = &host_counters;
    std::unique_ptr<AddressRace> race = AddressRace::begin(addresses, settings, use, &fd, &refused);
    if (!race) return;
    connection = new net::Connection(loop, std::move(fd), 64 * 1024,
                                     net::Connection::Start::Connecting, std::move(race));
    connection->setHandler(handler);
    FL_CHECK(connection->start());
  }

  uint64_t connections() { return counters->counted(stats::Cluster::Counter::UpstreamCxTotal); }

  plan::Cluster settings;
  Handler handler;
  stats::Registry registry{1};
  std::shared_ptr<stats::Block<stats::Cluster>> counters =
      registry.create<stats::Cluster>(stats::clusterScope("c"));
  HostCounters host_counters;
  int refused = 0;
  net::Connection* connection = nullptr;
};

}  // namespace

TEST("the next address is tried at once when one refuses, and the connection is told once") {
  net::Loop loop;
  uint16_t port = 0;
  const net::FileDescriptor listening = test::listenOnLoopback(&port);
  const test::RefusingPort refusing;
  Race race(loop, {loopback(refusing.number()), loopback(refusing.number()), loopback(port)});
  for (int i = 0; i < 100 && race.handler.told == 0; ++i) pass(loop, 2);
  EXPECT_EQ(race.handler.told, 1);
  EXPECT_EQ(race.handler.error, 0);
  sockaddr_in peer = {};
  socklen_t size = sizeof peer;
  ::getpeername(race.connection->fd(), reinterpret_cast<sockaddr*>(&peer), &size);
  EXPECT_EQ(ntohs(peer.sin_port), port);
  // The first counts with the connection.
  EXPECT_EQ(race.connections(), 2u);
  EXPECT_EQ(race.host_counters.cx_total.read(), 2u);
  race.connection->close();
  loop.turn(0);
}

TEST("when all refuse, the connection fails as one that has a single address") {
  net::Loop loop;
  const test::RefusingPort refusing;
  const size_t before = test::openDescriptors();
  Race race(loop, {loopback(refusing.number()), loopback(refusing.number())});
  for (int i = 0; i < 100 && race.handler.told == 0; ++i) pass(loop, 2);
  EXPECT_EQ(race.handler.told, 1);
  EXPECT_EQ(race.handler.error, ECONNREFUSED);
  race.connection->close();
  loop.turn(0);
  EXPECT_EQ(test::openDescriptors(), before);
}

TEST("a host that is refused at each of its addresses has been connected to at each") {
  net::Loop loop;
  plan::Cluster settings;
  // Nobody's: no socket is bound to it.
  settings.sources.emplace_back().address.emplace().ip = std::string("\xc0\0\2\1", 4);
  Race race(loop, {loopback(1), loopback(2), loopback(3)}, settings);
  EXPECT(race.connection == nullptr);
  EXPECT_EQ(race.refused, -EADDRNOTAVAIL);
  // The first counts with the connection.
  EXPECT_EQ(race.connections(), 2u);
  EXPECT_EQ(race.host_counters.cx_total.read(), 2u);
}

TEST("a race that is given up leaves nothing behind") {
  net::Loop loop;
  const test::RefusingPort refusing;
  const size_t before = test::openDescriptors();
  Race race(loop, {loopback(refusing.number()), loopback(refusing.number())});
  race.connection->close();
  loop.turn(0);
  loop.turn(0);
  EXPECT_EQ(test::openDescriptors(), before);
}

}  // namespace fairlead::upstream
