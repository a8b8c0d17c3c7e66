#include "net/bind.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace fairlead::net {

namespace {

// The file of a pipe; empty for what has none.
std::string fileOf(const Address& address) {
  if (address.isIp()) return "";
  std::string path = address.text();
  return path.starts_with('@') ? "" : path;
}

}  // namespace

void allowReuse(int fd, const Address& address) {
  if (!address.isIp()) return;
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
  if (address.family() == AF_INET6) ::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof(on));
}

const char* bindTo(int fd, const Address& address, mode_t pipe_mode) {
  const std::string file = fileOf(address);
  if (!file.empty()) ::unlink(file.c_str());
  if (::bind(fd, address.raw(), address.rawSize()) != 0) return "bind";
  if (!file.empty() && pipe_mode != 0 && ::chmod(file.c_str(), pipe_mode) != 0) {
    return "set the mode of";
  }
  return nullptr;
}

Error addressError(const char* what, const Address& address) {
  return Error{std::string("cannot ") + what + " '" + address.text() +
               "': " + std::strerror(errno)};
}

}  // namespace fairlead::net
