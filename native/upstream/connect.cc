#include "upstream/connect.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>

namespace fairlead::upstream {

namespace {

void setOption(int fd, int level, int name, int value) {
  ::setsockopt(fd, level, name, &value, sizeof(value));
}

void setKeepAlive(int fd, const plan::Cluster& settings) {
  if (!settings.tcp_keepalive) return;
  setOption(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  if (settings.keepalive_probes)
    setOption(fd, IPPROTO_TCP, TCP_KEEPCNT, static_cast<int>(settings.keepalive_probes));
  if (settings.keepalive_time_s)
    setOption(fd, IPPROTO_TCP, TCP_KEEPIDLE, static_cast<int>(settings.keepalive_time_s));
  if (settings.keepalive_interval_s)
    setOption(fd, IPPROTO_TCP, TCP_KEEPINTVL, static_cast<int>(settings.keepalive_interval_s));
}

}  // namespace

net::FileDescriptor beginConnect(const Host& host, const plan::Cluster& settings, int* error) {
  *error = 0;
  const net::Address& address = host.address();
  net::FileDescriptor fd(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) {
    *error = errno;
    return fd;
  }
  if (address.isIp()) {
    setOption(fd.get(), IPPROTO_TCP, TCP_NODELAY, 1);
    setKeepAlive(fd.get(), settings);
  }
  if (settings.source_address) {
    const net::Address source = net::Address::fromPlan(*settings.source_address);
    // The port is chosen at connect, so that one source address serves many destinations.
    setOption(fd.get(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
    if (::bind(fd.get(), source.raw(), source.rawSize()) != 0) {
      *error = errno;
      fd.close();
      return fd;
    }
  }
  if (::connect(fd.get(), address.raw(), address.rawSize()) != 0 && errno != EINPROGRESS) {
    *error = errno;
    fd.close();
  }
  return fd;
}

}  // namespace fairlead::upstream
