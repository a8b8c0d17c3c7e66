#include "upstream/connect.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "http/connect_transport.h"
#include "log/log.h"
#include "log/seldom.h"

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

// A socket that does not block, with connect(2) begun; not valid with an `error`.
net::FileDescriptor beginConnect(const Host& host, const plan::Cluster& settings, int* error) {
  *error = 0;
  const net::Address& address = host.address();
  net::FileDescriptor fd(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) {
    *error = errno;
    static thread_local log::Seldom seldom;
    if (seldom.isDue()) {
      log::error(log::Component::Upstream, "cannot open a socket for ", host.text(), ": ",
                 [error]() -> std::string_view { return std::strerror(*error); });
    }
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

}  // namespace

net::Connection* beginConnection(const Host& host, const Cluster& cluster, net::Loop& loop,
                                 unsigned worker, int* error, const ConnectionUse& use) {
  net::FileDescriptor fd = beginConnect(host, cluster.settings(), error);
  if (!fd.valid()) return nullptr;
  std::unique_ptr<net::Transport> transport = makeTransport(
      cluster.transport(host.settings()), {worker, host.settings().hostname, use.asked_name,
                                           use.wanted_name, use.client, use.protocols});
  if (!use.tunnel_head.empty()) {
    transport = http::makeConnectTransport(use.tunnel_head, std::move(transport));
  }
  auto connection = std::make_unique<net::Connection>(
      loop, std::move(fd), cluster.settings().per_connection_buffer_limit_bytes,
      net::Connection::Start::Connecting, std::move(transport));
  if (connection->start()) return connection.release();
  *error = errno;
  return nullptr;
}

}  // namespace fairlead::upstream
