// Sockets for the bench programs: loopback, non-blocking, TCP_NODELAY. A failure ends the program,
// since a benchmark that goes on after one measures something else.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace fairlead::bench {

[[noreturn]] inline void fail(const char* what) {
  std::fprintf(stderr, "%s: %s\n", what, std::strerror(errno));
  std::exit(1);
}

inline int check(int result, const char* what) {
  if (result < 0) fail(what);
  return result;
}

inline uint16_t portArgument(const char* text) {
  const long port = std::strtol(text, nullptr, 10);
  if (port < 0 || port > 65535) {
    std::fprintf(stderr, "not a port: %s\n", text);
    std::exit(2);
  }
  return static_cast<uint16_t>(port);
}

inline sockaddr_in loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

inline void setNoDelay(int fd) {
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

// Port 0 takes a free one; see boundPort().
inline int listenOn(uint16_t port) {
  const int fd = check(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "socket");
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  const sockaddr_in address = loopback(port);
  check(bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), "bind");
  check(listen(fd, 65535), "listen");
  return fd;
}

inline uint16_t boundPort(int fd) {
  sockaddr_in address{};
  socklen_t length = sizeof address;
  check(getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length), "getsockname");
  return ntohs(address.sin_port);
}

// Returns at once; the socket is writable when it is connected.
inline int connectTo(uint16_t port) {
  const int fd = check(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "socket");
  setNoDelay(fd);
  const sockaddr_in address = loopback(port);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0 &&
      errno != EINPROGRESS) {
    fail("connect");
  }
  return fd;
}

// -1 when nobody is waiting any more.
inline int acceptFrom(int listener) {
  const int fd = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd >= 0) setNoDelay(fd);
  return fd;
}

inline void watch(int epoll, int fd, uint32_t events, void* owner) {
  epoll_event event{};
  event.events = events;
  event.data.ptr = owner;
  check(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event), "epoll_ctl");
}

// As many descriptors as the hard limit allows.
inline void raiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) < 0) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace fairlead::bench
