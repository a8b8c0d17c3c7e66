// A listener on a loop of the test's own: what it takes in one turn, and what its connections have.
#include "net/listener.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>

#include <cerrno>
#include <memory>
#include <vector>

#include "test/native/http/http1/peer.h"
#include "test/native/support/kept_sockets.h"
#include "test/native/support/kernel.h"
#include "test/native/support/socket.h"
#include "test/native/test.h"

namespace fairlead::net {

namespace {

using http1::pass;
using http1::settle;
using test::Call;
using test::callCount;
using test::Socket;

// Keeps what it is given.
plan::Listener planOf(uint32_t accepts_per_turn) {
  plan::Listener plan;
  plan.name = "in";
  plan.backlog = 128;
  plan.max_connections_to_accept_per_socket_event = accepts_per_turn;
  return plan;
}

class AcceptFixture {
 public:
  explicit AcceptFixture(uint32_t accepts_per_turn = 0) {
    config_->plan = planOf(accepts_per_turn);
    config_->stats = std::make_shared<stats::Block<stats::Listener>>(stats::listenerScope("in"), 2);
    config_->worker_stats.push_back(std::make_shared<stats::Block<stats::ListenerWorker>>(
        stats::listenerWorkerScope("in", 0), 2));
    Address any;
    FL_CHECK(parseIp("127.0.0.1:0", &any));
    Result<FileDescriptor> opened = openListenSocket(config_->plan, any);
    FL_CHECK(opened.ok() && listenOn(opened.value().get(), config_->plan, any).ok());
    port_ = boundAddress(opened.value().get()).port();
    listener_ = std::make_unique<Listener>(
        loop, config_,
        std::vector<ListenSocket>{
            std::make_shared<const FileDescriptor>(std::move(opened.value()))},
        0, nullptr);
    listener_->setChains(std::make_shared<FilterChains>(FilterChains{
                             FilterChainMatch(std::vector<plan::FilterChain>(1)), {0}}),
                         [this](size_t) { return std::make_unique<Keeping>(accepted); });
  }

  Socket connect() const { return Socket::connect(port_); }
  Listener& listener() { return *listener_; }

  Loop loop;
  std::vector<AcceptedSocket> accepted;

 private:
  const std::shared_ptr<ListenerConfig> config_ = std::make_shared<ListenerConfig>();
  uint16_t port_ = 0;
  std::unique_ptr<Listener> listener_;
};

}  // namespace

TEST("A connection sends at once, as its listen socket does, without being told so") {
  AcceptFixture fixture;
  fixture.listener().start();
  const Socket client = fixture.connect();
  const uint64_t told = callCount(Call::Setsockopt);
  settle(fixture.loop);
  EXPECT_EQ(callCount(Call::Setsockopt), told);
  EXPECT_EQ(fixture.accepted.size(), 1u);
  int no_delay = 0;
  socklen_t size = sizeof no_delay;
  ::getsockopt(fixture.accepted[0].fd.get(), IPPROTO_TCP, TCP_NODELAY, &no_delay, &size);
  EXPECT_EQ(no_delay, 1);
}

TEST("A listener that takes two in a turn takes the rest in the next ones, without waiting") {
  AcceptFixture fixture(2);
  fixture.listener().start();
  std::vector<Socket> clients;
  for (int i = 0; i < 5; ++i) clients.push_back(fixture.connect());
  fixture.loop.turn(0);
  EXPECT_EQ(fixture.accepted.size(), 2u);
  fixture.loop.turn(0);
  EXPECT_EQ(fixture.accepted.size(), 4u);
  fixture.loop.turn(0);
  EXPECT_EQ(fixture.accepted.size(), 5u);
  // One that is paused meanwhile takes no more.
  for (int i = 0; i < 4; ++i) clients.push_back(fixture.connect());
  fixture.loop.turn(0);
  fixture.listener().pause();
  settle(fixture.loop);
  EXPECT_EQ(fixture.accepted.size(), 7u);
}

TEST("Clients that come while there are no descriptors are taken once there are some") {
  AcceptFixture fixture;
  fixture.listener().start();
  std::vector<Socket> clients;
  for (int i = 0; i < 3; ++i) clients.push_back(fixture.connect());
  {
    const test::NoMoreDescriptors none;
    settle(fixture.loop);
    EXPECT_EQ(fixture.accepted.size(), 0u);
  }
  pass(fixture.loop, 150);
  EXPECT_EQ(fixture.accepted.size(), 3u);
}

TEST("A listen socket that cannot be watched is looked at, and watched as soon as it can be") {
  AcceptFixture fixture;
  {
    const test::Refusing refusing(Call::EpollAdd, ENOSPC);
    fixture.listener().start();
    const Socket client = fixture.connect();
    pass(fixture.loop, 150);
    EXPECT_EQ(fixture.accepted.size(), 1u);
  }
  pass(fixture.loop, 150);
  const Socket client = fixture.connect();
  settle(fixture.loop);
  EXPECT_EQ(fixture.accepted.size(), 2u);
}

namespace {

plan::SocketOption bufferOption(plan::SocketOption::State state, int bytes) {
  return {SOL_SOCKET, SO_RCVBUF, std::string(reinterpret_cast<const char*>(&bytes), sizeof bytes),
          state};
}

int receiveBuffer(int fd) {
  int bytes = 0;
  socklen_t size = sizeof bytes;
  ::getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, &size);
  return bytes;
}

}  // namespace

TEST("An option of a listen socket is set in its state, on an inherited socket too") {
  using State = plan::SocketOption::State;
  Address any;
  EXPECT(parseIp("127.0.0.1:0", &any));
  for (const State state : {State::BeforeBind, State::Bound, State::Listening}) {
    plan::Listener plan = planOf(0);
    const FileDescriptor fresh = std::move(openListenSocket(plan, any).value());
    const int before = receiveBuffer(fresh.get());
    plan.socket_options = {bufferOption(state, 12'345)};
    const FileDescriptor fd = std::move(openListenSocket(plan, any).value());
    // The kernel doubles it.
    EXPECT_EQ(receiveBuffer(fd.get()), state == State::Listening ? before : 24'690);
    EXPECT(listenOn(fd.get(), plan, any).ok());
    EXPECT_EQ(receiveBuffer(fd.get()), 24'690);
    adoptListenSocket(fresh.get(), plan);
    EXPECT_EQ(receiveBuffer(fresh.get()), state == State::BeforeBind ? 24'690 : before);
  }
}

TEST("An option that cannot be set is named, with the address") {
  using State = plan::SocketOption::State;
  Address any;
  EXPECT(parseIp("127.0.0.1:0", &any));
  for (const State state : {State::BeforeBind, State::Bound}) {
    plan::Listener plan = planOf(0);
    plan.socket_options = {{static_cast<uint32_t>(-1), 99, "abcd", state}};
    EXPECT_EQ(openListenSocket(plan, any).error().message,
              "cannot set the option -1/99 of '127.0.0.1:0': Protocol not available");
  }
}

TEST("A client of IPv4 that a socket of IPv6 takes is called by its own address") {
  sockaddr_in6 raw = {};
  raw.sin6_family = AF_INET6;
  raw.sin6_port = htons(80);
  EXPECT_EQ(::inet_pton(AF_INET6, "::ffff:192.0.2.1", &raw.sin6_addr), 1);
  const auto text = [&] {
    return Address::fromKernel(reinterpret_cast<sockaddr*>(&raw), sizeof raw).text();
  };
  EXPECT_EQ(text(), "192.0.2.1:80");
  EXPECT_EQ(::inet_pton(AF_INET6, "::1", &raw.sin6_addr), 1);
  EXPECT_EQ(text(), "[::1]:80");
}

TEST(
    "While accepting stops connections wait in the queue, and are taken afterwards without "
    "another") {
  using Subject = Overload::Subject;
  AcceptFixture fixture;
  Random random;
  Overload overload;
  fixture.listener().follow(overload, random);
  fixture.listener().start();
  const auto say = [&](std::vector<plan::OverloadLevel> levels) {
    auto update = std::make_shared<Overload::Update>();
    update->state.levels = std::move(levels);
    overload.set(update, 0);
    fixture.listener().onOverloadChanged();
  };
  say({{Subject::StopAcceptingConnections, 1'000'000}});
  const Socket client = fixture.connect();
  settle(fixture.loop);
  EXPECT_EQ(fixture.accepted.size(), 0u);
  say({});
  settle(fixture.loop);
  EXPECT_EQ(fixture.accepted.size(), 1u);
  say({{Subject::RejectIncomingConnections, 1'000'000}});
  const Socket refused = fixture.connect();
  settle(fixture.loop);
  EXPECT_EQ(fixture.accepted.size(), 1u);
}

TEST("A connection from within is there at the end of the turn, with its addresses and a peer") {
  AcceptFixture fixture;
  const Address to = Address::internal("in", "one");
  const FileDescriptor mine = fixture.listener().connect(to, nullptr, nullptr);
  EXPECT(mine.valid());
  EXPECT_EQ(fixture.accepted.size(), 0u);
  fixture.loop.turn(0);
  EXPECT_EQ(fixture.accepted.size(), 1u);
  const AcceptedSocket& accepted = fixture.accepted[0];
  EXPECT_EQ(accepted.local.text(), "envoy://in/one");
  EXPECT_EQ(accepted.remote.text(), "envoy://internal_client_address/");
  EXPECT_EQ(accepted.local.internalListener(), "in");
  EXPECT_EQ(accepted.local.endpointId(), "one");
  EXPECT(accepted.local == to);
  EXPECT(!(accepted.local == Address::internal("in", "other")));
  EXPECT_EQ(::send(mine.get(), "hi", 2, 0), 2);
  char bytes[4];
  EXPECT_EQ(::recv(accepted.fd.get(), bytes, sizeof bytes, 0), 2);
}

}  // namespace fairlead::net
