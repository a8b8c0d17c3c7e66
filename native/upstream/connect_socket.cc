#include "upstream/connect_socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "log/log.h"
#include "log/seldom.h"

namespace fairlead::upstream {

namespace {

bool setOption(int fd, int level, int name, int value) {
  return ::setsockopt(fd, level, name, &value, sizeof(value)) == 0;
}

bool setUnlessZero(int fd, int name, uint32_t value) {
  return value == 0 || setOption(fd, IPPROTO_TCP, name, static_cast<int>(value));
}

// False: the kernel refuses some of it, such as more than 127 probes.
bool setKeepAlive(int fd, const plan::Cluster& settings) {
  if (!settings.tcp_keepalive) return true;
  return setOption(fd, SOL_SOCKET, SO_KEEPALIVE, 1) &&
         setUnlessZero(fd, TCP_KEEPCNT, settings.keepalive_probes) &&
         setUnlessZero(fd, TCP_KEEPIDLE, settings.keepalive_time_s) &&
         setUnlessZero(fd, TCP_KEEPINTVL, settings.keepalive_interval_s);
}

// As the real server's default selector: the first of the host's family, or else the first. Null:
// the kernel says.
const plan::SourceAddress* sourceFor(const net::Address& address, const plan::Cluster& settings) {
  if (settings.sources.empty()) return nullptr;
  const size_t bytes = address.ipBytes().size();
  for (const plan::SourceAddress& source : settings.sources) {
    if (source.address && source.address->ip.size() == bytes) return &source;
  }
  return &settings.sources.front();
}

// As the real server: of hosts' sockets no other state is looked at.
bool applyOptions(int fd, const plan::SourceAddress& source) {
  for (const plan::SocketOption& option : source.socket_options) {
    if (option.state != plan::SocketOption::State::BeforeBind) continue;
    if (::setsockopt(fd, static_cast<int>(option.level), static_cast<int>(option.name),
                     option.value.data(), static_cast<socklen_t>(option.value.size())) != 0) {
      return false;
    }
  }
  return true;
}

// 0, or else as beginConnect() tells.
int bindTo(int fd, const plan::SourceAddress& source) {
  const auto& address = source.address;
  const bool is_v6 = address && address->ip.size() == 16;
  if (source.freebind && !(is_v6 ? setOption(fd, IPPROTO_IPV6, IPV6_FREEBIND, 1)
                                 : setOption(fd, IPPROTO_IP, IP_FREEBIND, 1))) {
    return kOptionRefused;
  }
  if (!applyOptions(fd, source)) return kOptionRefused;
  if (!address) return 0;
  const net::Address from = net::Address::fromPlan(*address);
  // The port is chosen at connect, so that one source address serves many destinations.
  setOption(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
  return ::bind(fd, from.raw(), from.rawSize()) == 0 ? 0 : -errno;
}

// False, with errno: it is not bound to an address that is not this machine's. What the system does
// not let it do it says seldom: each connection would say it.
bool bindAs(int fd, const net::OriginalSource& from) {
  const bool is_v6 = from.address.family() == AF_INET6;
  const bool is_transparent = is_v6 ? setOption(fd, IPPROTO_IPV6, IPV6_TRANSPARENT, 1)
                                    : setOption(fd, IPPROTO_IP, IP_TRANSPARENT, 1);
  const bool is_marked =
      from.mark == 0 || setOption(fd, SOL_SOCKET, SO_MARK, static_cast<int>(from.mark));
  setOption(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1);
  if (is_transparent && is_marked && ::bind(fd, from.address.raw(), from.address.rawSize()) == 0) {
    return true;
  }
  const int error = errno;
  static thread_local log::Seldom seldom;
  if (seldom.isDue()) {
    log::error(
        log::Component::Upstream, "cannot connect from ", from.address.text(), ": ",
        [error]() -> std::string_view { return std::strerror(error); },
        error == EPERM ? "; original_src needs CAP_NET_ADMIN" : "");
  }
  errno = error;
  return false;
}

// 0, or else as beginConnect() tells.
int prepare(int fd, const net::Address& address, const plan::Cluster& settings,
            const net::OriginalSource* from) {
  if (!address.isIp()) return 0;
  setOption(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  if (!setKeepAlive(fd, settings)) return kOptionRefused;
  if (from) return bindAs(fd, *from) ? 0 : -errno;
  const plan::SourceAddress* const source = sourceFor(address, settings);
  return source ? bindTo(fd, *source) : 0;
}

}  // namespace

net::FileDescriptor beginConnect(const net::Address& address, const plan::Cluster& settings,
                                 const net::OriginalSource* from, int* error) {
  *error = 0;
  net::FileDescriptor fd(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd.valid()) {
    *error = errno;
    static thread_local log::Seldom seldom;
    if (seldom.isDue()) {
      log::error(log::Component::Upstream, "cannot open a socket for ", address.text(), ": ",
                 [error]() -> std::string_view { return std::strerror(*error); });
    }
    return fd;
  }
  *error = prepare(fd.get(), address, settings, from);
  if (*error == 0 && ::connect(fd.get(), address.raw(), address.rawSize()) != 0 &&
      errno != EINPROGRESS) {
    *error = errno;
  }
  if (*error != 0) fd.close();
  return fd;
}

std::string sourceText(const net::Address& to, const plan::Cluster& settings,
                       const net::OriginalSource* from) {
  if (from && to.isIp()) return from->address.text();
  const plan::SourceAddress* const source = to.isIp() ? sourceFor(to, settings) : nullptr;
  return source && source->address ? net::Address::fromPlan(*source->address).text()
                                   : std::string();
}

}  // namespace fairlead::upstream
