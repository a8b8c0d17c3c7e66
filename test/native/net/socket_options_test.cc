// Listen sockets with options by number.
#include "net/socket_options.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "test/native/test.h"

namespace fairlead::test {

namespace {

using net::SocketOption;
using net::SocketState;

constexpr int kBufferBytes = 12345;

net::Address loopback() {
  net::Address address;
  EXPECT(net::parseIp("127.0.0.1:0", &address));
  return address;
}

SocketOption option(int level, int name, int value, SocketState state) {
  return {level, name, std::string(reinterpret_cast<const char*>(&value), sizeof(value)), state};
}

int valueOf(int fd, int name) {
  int value = 0;
  socklen_t size = sizeof(value);
  EXPECT_EQ(::getsockopt(fd, SOL_SOCKET, name, &value, &size), 0);
  return value;
}

}  // namespace

TEST("An option is set on a socket that listens, whatever the state it asks for") {
  for (const auto state : {SocketState::kPrebind, SocketState::kBound, SocketState::kListening}) {
    const auto opened =
        net::openListenSocket(loopback(), 0, {option(SOL_SOCKET, SO_RCVBUF, kBufferBytes, state)});
    EXPECT_EQ(opened.error, "");
    EXPECT(opened.failures.empty());
    // The kernel doubles it.
    EXPECT_EQ(valueOf(opened.fd.get(), SO_RCVBUF), 2 * kBufferBytes);
    EXPECT_EQ(valueOf(opened.fd.get(), SO_ACCEPTCONN), 1);
  }
}

TEST("The last of several options of a name counts") {
  const auto opened = net::openListenSocket(
      loopback(), 0,
      {option(SOL_SOCKET, SO_RCVBUF, kBufferBytes, SocketState::kPrebind),
       option(SOL_SOCKET, SO_RCVBUF, 2 * kBufferBytes, SocketState::kPrebind)});
  EXPECT_EQ(valueOf(opened.fd.get(), SO_RCVBUF), 4 * kBufferBytes);
}

TEST("Without an option of before binding there is no socket; later ones it does without") {
  const SocketOption good = option(SOL_SOCKET, SO_KEEPALIVE, 1, SocketState::kPrebind);
  const auto none = net::openListenSocket(
      loopback(), 0, {good, option(SOL_SOCKET, 9999, 1, SocketState::kPrebind)});
  EXPECT(!none.fd.valid());
  EXPECT_EQ(none.error, "");
  EXPECT_EQ(none.failures.size(), 1u);
  EXPECT_EQ(none.failures[0].option, 1u);
  EXPECT_EQ(none.failures[0].error, ENOPROTOOPT);

  const auto some = net::openListenSocket(
      loopback(), 0, {option(SOL_SOCKET, 9999, 1, SocketState::kListening), good});
  EXPECT(some.fd.valid());
  EXPECT_EQ(some.failures.size(), 1u);
  EXPECT_EQ(some.failures[0].option, 0u);
  EXPECT_EQ(valueOf(some.fd.get(), SO_KEEPALIVE), 1);
}

TEST("An address that is taken is an error") {
  const auto first = net::openListenSocket(loopback(), 0, {});
  sockaddr_storage storage;
  socklen_t size = sizeof(storage);
  EXPECT_EQ(::getsockname(first.fd.get(), reinterpret_cast<sockaddr*>(&storage), &size), 0);
  const auto address = net::Address::fromKernel(reinterpret_cast<sockaddr*>(&storage), size);
  const auto second = net::openListenSocket(address, 0, {});
  EXPECT(!second.fd.valid());
  EXPECT_EQ(second.error, "cannot bind '" + address.text() + "': Address already in use");
}

}  // namespace fairlead::test
