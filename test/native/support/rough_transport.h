// A transport that is as unkind as one may be: its handshake takes several events, reads and writes
// move a few bytes or nothing though the socket is ready, and what it holds back is told of late.
// What passes over it must be what passes over a raw socket.
#pragma once

#include <cstdint>
#include <memory>
#include <random>

#include "net/transport.h"

namespace fairlead::test {

class RoughTransport final : public net::Transport {
 public:
  explicit RoughTransport(uint32_t seed) : random_(seed) {}

  void attach(net::Connection& connection) override { connection_ = &connection; }
  Handshake handshake(int fd) override;
  ssize_t read(int fd, char* to, size_t room) override;
  ssize_t write(int fd, const iovec* parts, int count) override;
  void endWriting(int fd) override;

 private:
  // Whether nothing moves this time, though it could.
  bool holdsBack(uint32_t event);
  // Of so many bytes, as many as move this time; at least one.
  size_t share(size_t bytes);

  size_t below(size_t bound) { return random_() % bound; }

  std::minstd_rand random_;
  net::Connection* connection_ = nullptr;
  int handshake_steps_ = 3;
};

// Transports of one seed each, in the order in which they are asked for.
class RoughTransports final : public net::TransportFactory {
 public:
  std::unique_ptr<net::Transport> make(const net::TransportTarget& target) const override;
};

// Null, unless the tests were started with --rough.
net::SharedTransport transportOfTests();
inline std::unique_ptr<net::Transport> makeTransportOfTests() {
  return net::makeTransport(transportOfTests(), {});
}
bool isRough();
void useRoughTransport();
void seedRoughTransports(uint32_t seed);

}  // namespace fairlead::test
