#include "net/socket_options.h"

#include <sys/socket.h>

#include <cerrno>

#include "net/bind.h"

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

// What could not be done; null: it listens.
const char* bindAndListen(const Address& address, mode_t pipe_mode,
                          const std::vector<SocketOption>& options, OpenedSocket* socket) {
  const int fd = socket->fd.get();
  if (const char* what = bindTo(fd, address, pipe_mode)) return what;
  applyOptions(options, SocketState::kBound, socket);
  if (::listen(fd, SOMAXCONN) != 0) return "listen on";
  applyOptions(options, SocketState::kListening, socket);
  return nullptr;
}

}  // namespace

OpenedSocket openListenSocket(const Address& address, mode_t pipe_mode,
                              const std::vector<SocketOption>& options) {
  OpenedSocket socket;
  socket.fd =
      FileDescriptor(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.fd.valid()) {
    socket.error = addressError("open a socket for", address).message;
    return socket;
  }
  allowReuse(socket.fd.get(), address);
  applyOptions(options, SocketState::kPrebind, &socket);
  if (!socket.failures.empty()) {
    socket.fd.close();
  } else if (const char* what = bindAndListen(address, pipe_mode, options, &socket)) {
    socket.error = addressError(what, address).message;
    socket.fd.close();
  }
  return socket;
}

}  // namespace fairlead::net
