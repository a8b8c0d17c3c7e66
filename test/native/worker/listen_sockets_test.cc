// Sockets of listeners that may not listen.
#include "worker/listen_sockets.h"

#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>

#include "test/native/support/socket.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

// It is refused an option once it listens.
plan::Listener refusedListener() {
  plan::Listener plan;
  plan.name = "firm";
  plan.reuse_port = true;
  plan.address.emplace().ip = std::string("\x7f\0\0\1", 4);
  plan::SocketOption& option = plan.socket_options.emplace_back();
  option.level = 99;
  option.name = 99;
  option.value = "1234";
  option.state = plan::SocketOption::State::Listening;
  return plan;
}

uint16_t portOf(const net::ListenSocket& socket) { return net::boundAddress(socket->get()).port(); }

}  // namespace

TEST("A listener that may not listen refuses connections while workers hold its sockets still") {
  worker::ListenSockets sockets(2);
  auto opened = sockets.open(refusedListener());
  EXPECT(opened);
  const auto held = sockets.keep(std::move(opened.value()));
  EXPECT_EQ(sockets.startListening().count("firm"), 1u);
  EXPECT_EQ(held.size(), 2u);
  EXPECT(!Socket::connect(portOf(held[0].front())).isOpen());
}

TEST("Sockets that a predecessor has too go on listening for it, if their listener changed, too") {
  plan::Listener plan = refusedListener();
  plan.socket_options.clear();
  auto own = net::openListenSocket(plan, net::Address::fromPlan(*plan.address));
  EXPECT(own);
  EXPECT(net::listenOn(own.value().get(), plan, {}));
  const auto passed =
      std::make_shared<const net::FileDescriptor>(net::FileDescriptor(::dup(own.value().get())));
  const net::Address address = net::boundAddress(own.value().get());

  plan::Listener next = refusedListener();
  next.address->port = address.port();
  worker::ListenSockets sockets(1);
  sockets.inherit({"firm", address.text(), false, passed});
  for (int version = 0; version < 2; ++version) {
    auto opened = sockets.open(next);
    EXPECT(opened);
    sockets.keep(std::move(opened.value()));
  }
  EXPECT_EQ(sockets.startListening().count("firm"), 1u);
  EXPECT(Socket::connect(address.port()).isOpen());
}

}  // namespace fairlead::test
