#include "test/native/support/rough_transport.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>

#include "net/connection.h"

namespace fairlead::test {

namespace {
bool is_rough = false;
std::atomic<uint32_t> next_seed{1};
}  // namespace

net::Transport::Handshake RoughTransport::handshake(int) {
  if (--handshake_steps_ == 0) return Handshake::Done;
  connection_->wake(EPOLLIN | EPOLLOUT);
  return Handshake::Waiting;
}

bool RoughTransport::holdsBack(uint32_t event) {
  if (below(4) != 0) return false;
  connection_->wake(event);
  errno = EAGAIN;
  return true;
}

size_t RoughTransport::share(size_t bytes) {
  constexpr size_t kShares[] = {1, 2, 17, 700, 20'000, SIZE_MAX};
  const size_t most = std::min(bytes, kShares[below(std::size(kShares))]);
  return most <= 1 ? 1 : 1 + below(most);
}

ssize_t RoughTransport::read(int fd, char* to, size_t room) {
  if (holdsBack(EPOLLIN)) return -1;
  return ::recv(fd, to, share(room), 0);
}

ssize_t RoughTransport::write(int fd, const iovec* parts, int count) {
  if (holdsBack(EPOLLOUT)) return -1;
  const iovec& part = parts[0];
  const size_t size = share(part.iov_len);
  const ssize_t sent = ::send(fd, part.iov_base, size, MSG_NOSIGNAL);
  // Less than all was asked for: no event will tell of the rest.
  if (sent == static_cast<ssize_t>(size)) connection_->wake(EPOLLOUT);
  return sent;
}

void RoughTransport::endWriting(int fd) { ::shutdown(fd, SHUT_WR); }

std::unique_ptr<net::Transport> RoughTransports::make(const net::TransportTarget&) const {
  return std::make_unique<RoughTransport>(next_seed.fetch_add(1));
}

net::SharedTransport transportOfTests() {
  static const auto rough = std::make_shared<RoughTransports>();
  return is_rough ? rough : nullptr;
}

bool isRough() { return is_rough; }

void useRoughTransport() { is_rough = true; }

void seedRoughTransports(uint32_t seed) { next_seed = seed; }

}  // namespace fairlead::test
