// The other end of a connection under test: a plain socket that a test writes to and reads from.
#pragma once

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <string_view>

#include "base/check.h"
#include "net/file_descriptor.h"
#include "net/loop.h"
#include "test/native/support/rough_transport.h"

namespace fairlead::http1 {

class Peer {
 public:
  // `other` is the end for the connection under test.
  explicit Peer(net::FileDescriptor* other) {
    int pair[2];
    FL_CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) == 0);
    fd_ = net::FileDescriptor(pair[0]);
    *other = net::FileDescriptor(pair[1]);
  }

  void write(std::string_view bytes) {
    const ssize_t wrote = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    FL_CHECK(wrote == static_cast<ssize_t>(bytes.size()));
  }
  // As many bytes as the socket takes; returns how many.
  size_t fill() {
    const std::string part(16 * 1024, 'x');
    size_t all = 0;
    for (;;) {
      const ssize_t wrote = ::send(fd_.get(), part.data(), part.size(), MSG_NOSIGNAL);
      if (wrote < 0) return all;
      all += static_cast<size_t>(wrote);
    }
  }
  // All that has come; has_ended() tells whether the connection is over on the other side.
  std::string read() {
    std::string all;
    char buffer[16384];
    for (;;) {
      const ssize_t got = ::recv(fd_.get(), buffer, sizeof buffer, 0);
      if (got <= 0) {
        ended_ = got == 0 || (errno != EAGAIN && errno != EINTR);
        return all;
      }
      all.append(buffer, static_cast<size_t>(got));
    }
  }
  bool hasEnded() {
    read();
    return ended_;
  }
  void endWriting() { ::shutdown(fd_.get(), SHUT_WR); }
  void close() { fd_.close(); }

 private:
  net::FileDescriptor fd_;
  bool ended_ = false;
};

// Lets everything happen that is due, without waiting.
inline void settle(net::Loop& loop) {
  const int turns = test::isRough() ? 400 : 8;
  for (int i = 0; i < turns; ++i) loop.turn(0);
}

// Lets `ms` pass.
inline void pass(net::Loop& loop, net::Millis ms) {
  const net::Millis end = net::Loop::readClockMicros() / 1000 + ms + 2;
  while (net::Loop::readClockMicros() / 1000 < end) loop.turn(1);
}

}  // namespace fairlead::http1
