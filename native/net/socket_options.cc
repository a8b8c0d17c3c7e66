#include "net/socket_options.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace fairlead::net {

namespace {

void applyOptions(const std::vector<SocketOption>& options, SocketState state,
                  OpenedSocket* socket) {
  for (size_t i = 0; i < options.size(); ++i) {
    const SocketOption& option = options[i];
    if (option.state != state) continue;
    if (::setsockopt(socket->fd.get(), option.level, option.name, option.value.data(),
                     static_cast<socklen_t>(option.value.size())) != 0) {
      socket->failures.push_back({i, errno});
    }
  }
}

// The file of a pipe; empty for what has none.
std::string fileOf(const Address& address) {
  if (address.isIp()) return "";
  std::string path = address.text();
  return path.starts_with('@') ? "" : path;
}

void setAddressReuse(int fd, const Address& address) {
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (address.family() == AF_INET6) ::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
}

bool bindAndListen(const Address& address, mode_t pipe_mode,
                   const std::vector<SocketOption>& options, OpenedSocket* socket) {
  const int fd = socket->fd.get();
  const std::string file = fileOf(address);
  if (!file.empty()) ::unlink(file.c_str());
  if (::bind(fd, address.raw(), address.rawSize()) != 0) return false;
  if (!file.empty() && pipe_mode != 0 && ::chmod(file.c_str(), pipe_mode) != 0) return false;
  applyOptions(options, SocketState::kBound, socket);
  if (::listen(fd, SOMAXCONN) != 0) return false;
  applyOptions(options, SocketState::kListening, socket);
  return true;
}

}  // namespace

OpenedSocket openListenSocket(const Address& address, mode_t pipe_mode,
                              const std::vector<SocketOption>& options) {
  OpenedSocket socket;
  socket.fd =
      FileDescriptor(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.fd.valid()) {
    socket.error = errno;
    return socket;
  }
  if (address.isIp()) setAddressReuse(socket.fd.get(), address);
  applyOptions(options, SocketState::kPrebind, &socket);
  if (!socket.failures.empty()) {
    socket.fd.close();
  } else if (!bindAndListen(address, pipe_mode, options, &socket)) {
    socket.error = errno;
    socket.fd.close();
  }
  return socket;
}

}  // namespace fairlead::net
