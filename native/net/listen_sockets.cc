// Sockets that listen: how they are opened, bound and given their options.
#include <linux/tcp.h>

#include "net/bind.h"
#include "net/listener.h"
#include "net/network_namespace.h"

namespace fairlead::net {

namespace {

using State = plan::SocketOption::State;

bool setOption(int fd, int level, int name, int value) {
  return ::setsockopt(fd, level, name, &value, sizeof(value)) == 0;
}

// The first option of that state which cannot be set, with errno set; null: all are.
const plan::SocketOption* applyOptions(int fd, const plan::Listener& listener, State state) {
  for (const plan::SocketOption& option : listener.socket_options) {
    if (option.state != state) continue;
    if (::setsockopt(fd, static_cast<int>(option.level), static_cast<int>(option.name),
                     option.value.data(), static_cast<socklen_t>(option.value.size())) != 0) {
      return &option;
    }
  }
  return nullptr;
}

Error optionError(const plan::SocketOption& option, const Address& address) {
  const std::string what = "set the option " + std::to_string(static_cast<int>(option.level)) +
                           "/" + std::to_string(static_cast<int>(option.name)) + " of";
  return addressError(what.c_str(), address);
}

Result<FileDescriptor> openHere(const plan::Listener& listener, const Address& address) {
  const int protocol = listener.mptcp ? IPPROTO_MPTCP : 0;
  FileDescriptor fd(
      ::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol));
  if (!fd.valid()) return addressError("open a socket for", address);
  allowReuse(fd.get(), address);
  if (address.isIp()) {
    if (listener.reuse_port && !setOption(fd.get(), SOL_SOCKET, SO_REUSEPORT, 1)) {
      return addressError("share the port of", address);
    }
    if (listener.freebind && !setOption(fd.get(), IPPROTO_IP, IP_FREEBIND, 1)) {
      return addressError("set freebind for", address);
    }
    if (listener.transparent && !setOption(fd.get(), IPPROTO_IP, IP_TRANSPARENT, 1)) {
      return addressError("set transparent for", address);
    }
    // Connections have it from their listen socket.
    setOption(fd.get(), IPPROTO_TCP, TCP_NODELAY, 1);
    if (listener.tcp_fast_open_queue_length > 0) {
      setOption(fd.get(), IPPROTO_TCP, TCP_FASTOPEN,
                static_cast<int>(listener.tcp_fast_open_queue_length));
    }
  }
  if (const auto* option = applyOptions(fd.get(), listener, State::BeforeBind)) {
    return optionError(*option, address);
  }
  if (const char* what = bindTo(fd.get(), address, listener.pipe_mode)) {
    return addressError(what, address);
  }
  if (const auto* option = applyOptions(fd.get(), listener, State::Bound)) {
    return optionError(*option, address);
  }
  return fd;
}

}  // namespace

void adoptListenSocket(int fd, const plan::Listener& listener) {
  for (const plan::SocketOption& option : listener.socket_options) {
    if (option.state != State::BeforeBind) continue;
    // What only a new socket can have it has, or its successor will.
    ::setsockopt(fd, static_cast<int>(option.level), static_cast<int>(option.name),
                 option.value.data(), static_cast<socklen_t>(option.value.size()));
  }
}

Result<FileDescriptor> openListenSocket(const plan::Listener& listener, const Address& address) {
  const auto open = [&] { return openHere(listener, address); };
  const std::string& space = listener.network_namespace;
  return space.empty() ? open() : inNetworkNamespace(space, open);
}

Result<void> listenOn(int fd, const plan::Listener& listener, const Address& address) {
  if (::listen(fd, static_cast<int>(listener.backlog)) != 0) {
    return addressError("listen on", address);
  }
  if (const auto* option = applyOptions(fd, listener, State::Listening)) {
    return optionError(*option, address);
  }
  return {};
}

Address boundAddress(int fd) {
  sockaddr_storage storage;
  socklen_t size = sizeof(storage);
  if (::getsockname(fd, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return {};
  return Address::fromKernel(reinterpret_cast<sockaddr*>(&storage), size);
}

}  // namespace fairlead::net
