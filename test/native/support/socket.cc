#include "test/native/support/socket.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "base/check.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

sockaddr_in loopback(uint16_t port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

}  // namespace

Socket::Socket(net::FileDescriptor fd) : fd_(std::move(fd)) {
  if (!fd_.valid()) return;
  setPatience(kPatienceMs);
  const int on = 1;
  ::setsockopt(fd_.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

Socket Socket::connect(uint16_t port, int receive_bytes) {
  net::FileDescriptor fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  FL_CHECK(fd.valid());
  if (receive_bytes > 0) {
    ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
  }
  const sockaddr_in address = loopback(port);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return Socket();
  }
  return Socket(std::move(fd));
}

bool Socket::write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(sent));
  }
  return true;
}

bool Socket::fill() {
  char chunk[64 * 1024];
  for (;;) {
    const ssize_t got = ::recv(fd_.get(), chunk, sizeof chunk, 0);
    if (got < 0 && errno == EINTR) continue;
    reset_ = got < 0 && errno == ECONNRESET;
    if (got <= 0) return false;
    buffer_.append(chunk, static_cast<size_t>(got));
    return true;
  }
}

std::string Socket::read(size_t limit) {
  if (buffer_.empty() && !fill()) return {};
  if (buffer_.size() <= limit) return std::exchange(buffer_, {});
  std::string part = buffer_.substr(0, limit);
  buffer_.erase(0, limit);
  return part;
}

std::string Socket::readUntil(std::string_view mark) {
  size_t at;
  while ((at = buffer_.find(mark)) == std::string::npos) {
    if (!fill()) return std::exchange(buffer_, {});
  }
  std::string part = buffer_.substr(0, at + mark.size());
  buffer_.erase(0, part.size());
  return part;
}

std::string Socket::readExactly(size_t bytes) {
  if (bytes == 0) return {};
  while (buffer_.size() < bytes && fill()) {
  }
  return read(bytes);
}

std::string Socket::readAll() {
  while (fill()) {
  }
  return std::exchange(buffer_, {});
}

uint64_t Socket::discard(uint64_t bytes) {
  uint64_t seen = 0;
  while (seen < bytes) {
    const size_t part = read(static_cast<size_t>(std::min<uint64_t>(bytes - seen, 1 << 20))).size();
    if (part == 0) break;
    seen += part;
  }
  return seen;
}

std::string Socket::readMessage() {
  std::string message = readUntil("\r\n\r\n");
  const size_t length = message.find("content-length: ");
  if (length != std::string::npos) {
    return message + readExactly(std::strtoul(message.c_str() + length + 16, nullptr, 10));
  }
  if (message.find("transfer-encoding: chunked") == std::string::npos) return message;
  for (;;) {
    const std::string size = readUntil("\r\n");
    message += size;
    const size_t bytes = std::strtoul(size.c_str(), nullptr, 16);
    if (size.empty()) return message;
    message += readExactly(bytes + 2);
    if (bytes == 0) return message;
  }
}

void Socket::setPatience(int ms) {
  const timeval patience = {ms / 1000, (ms % 1000) * 1000};
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
}

void Socket::endWriting() { ::shutdown(fd_.get(), SHUT_WR); }

void Socket::reset() {
  const linger now = {1, 0};
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
  fd_.close();
}

namespace {

net::FileDescriptor bindToLoopback(uint16_t* port) {
  net::FileDescriptor fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  FL_CHECK(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
  FL_CHECK(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
  *port = ntohs(address.sin_port);
  return fd;
}

}  // namespace

net::FileDescriptor listenOnLoopback(uint16_t* port, int backlog) {
  net::FileDescriptor fd = bindToLoopback(port);
  FL_CHECK(::listen(fd.get(), backlog) == 0);
  return fd;
}

RefusingPort::RefusingPort() : bound_(bindToLoopback(&number_)) {}

size_t openDescriptors() {
  DIR* const folder = ::opendir("/proc/self/fd");
  FL_CHECK(folder != nullptr);
  size_t count = 0;
  while (::readdir(folder)) ++count;
  ::closedir(folder);
  // "." and "..", and the folder itself.
  return count - 3;
}

// The kernel gives the lowest number that is free; from that on there are none.
NoMoreDescriptors::NoMoreDescriptors() {
  FL_CHECK(::getrlimit(RLIMIT_NOFILE, &before_) == 0);
  const net::FileDescriptor lowest_free(::dup(STDERR_FILENO));
  const rlimit none{static_cast<rlim_t>(lowest_free.get()), before_.rlim_max};
  FL_CHECK(::setrlimit(RLIMIT_NOFILE, &none) == 0);
}

NoMoreDescriptors::~NoMoreDescriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

DescriptorsBalance::DescriptorsBalance() : before_(openDescriptors()) {}

DescriptorsBalance::~DescriptorsBalance() { EXPECT_EQ(openDescriptors(), before_); }

}  // namespace fairlead::test
