// The floor: a TCP relay that knows no HTTP and does nothing but move bytes. One thread, epoll,
// edge-triggered, every descriptor registered once, one read buffer for all. What a request costs
// here is the price of the kernel's TCP on this machine; a proxy pays the rest for what it does. It
// does not splice: for long bodies that may be cheaper.
//
//   floor LISTEN_PORT UPSTREAM_PORT
//
// Each client has an upstream connection of its own, opened when the client is accepted.
#include <csignal>
#include <memory>
#include <string>
#include <vector>

#include "bench/support/sockets.h"

namespace fairlead::bench {
namespace {

constexpr size_t kReadBytes = 64 * 1024;
constexpr int kEventsPerTurn = 512;

struct Pair;

// One of a pair's two connections.
struct Side {
  int fd = -1;
  Pair* pair = nullptr;
  Side* other = nullptr;
  // What this side could not yet be sent. Its source is not read while there is any.
  std::string unsent;
  bool has_more = false;  // The kernel may hold bytes that were left unread for back-pressure.
  bool is_ended = false;  // The peer sent its end.
  bool is_shut = false;   // And this side was told about the other's end.
};

struct Pair {
  Side client;
  Side upstream;
  bool is_closed = false;
};

class Relay {
 public:
  Relay(uint16_t listen_port, uint16_t upstream_port)
      : epoll_(check(epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
        listener_(listenOn(listen_port)),
        upstream_port_(upstream_port),
        buffer_(new char[kReadBytes]) {
    watch(epoll_, listener_, EPOLLIN | EPOLLET, nullptr);
  }

  [[noreturn]] void run() {
    std::vector<epoll_event> events(kEventsPerTurn);
    for (;;) {
      const int count = epoll_wait(epoll_, events.data(), kEventsPerTurn, -1);
      for (int i = 0; i < count; ++i) {
        auto* side = static_cast<Side*>(events[i].data.ptr);
        if (side == nullptr) {
          acceptAll();
        } else {
          onEvent(*side, events[i].events);
        }
      }
      // Events of the same batch may still name a pair that closed in it.
      closed_.clear();
    }
  }

 private:
  void acceptAll() {
    for (int fd; (fd = acceptFrom(listener_)) >= 0;) {
      auto* pair = new Pair;
      join(*pair, pair->client, pair->upstream, fd);
      join(*pair, pair->upstream, pair->client, connectTo(upstream_port_));
    }
  }

  void join(Pair& pair, Side& side, Side& other, int fd) {
    side.fd = fd;
    side.pair = &pair;
    side.other = &other;
    watch(epoll_, fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, &side);
  }

  void onEvent(Side& side, uint32_t events) {
    Pair& pair = *side.pair;
    if (pair.is_closed) return;
    if (events & (EPOLLERR | EPOLLHUP)) return close(pair);
    if (events & EPOLLOUT) flush(side);
    if (!pair.is_closed && (events & (EPOLLIN | EPOLLRDHUP))) {
      side.has_more = true;
      if (events & EPOLLRDHUP) side.is_ended = true;
      forward(side);
    }
  }

  // Moves bytes from `from` to the other side until there are none, or the other side is full.
  void forward(Side& from) {
    Side& to = *from.other;
    while (from.has_more && to.unsent.empty()) {
      const ssize_t got = read(from.fd, buffer_.get(), kReadBytes);
      if (got < 0) {
        if (errno != EAGAIN) return close(*from.pair);
        from.has_more = false;
        break;
      }
      if (got == 0) {
        from.is_ended = true;
        from.has_more = false;
        break;
      }
      // A short read emptied the socket: no second one to hear EAGAIN. An end must be read, though.
      if (static_cast<size_t>(got) < kReadBytes && !from.is_ended) from.has_more = false;
      if (!sendTo(to, static_cast<size_t>(got))) return close(*from.pair);
    }
    passEnd(from);
  }

  bool sendTo(Side& to, size_t length) {
    const ssize_t sent = send(to.fd, buffer_.get(), length, MSG_NOSIGNAL);
    if (sent < 0 && errno != EAGAIN && errno != ENOTCONN) return false;
    const size_t done = sent < 0 ? 0 : static_cast<size_t>(sent);
    if (done < length) to.unsent.assign(buffer_.get() + done, length - done);
    return true;
  }

  void flush(Side& side) {
    if (!side.unsent.empty()) {
      const ssize_t sent = send(side.fd, side.unsent.data(), side.unsent.size(), MSG_NOSIGNAL);
      if (sent < 0) {
        if (errno != EAGAIN && errno != ENOTCONN) close(*side.pair);
        return;
      }
      side.unsent.erase(0, static_cast<size_t>(sent));
      if (!side.unsent.empty()) return;
    }
    if (side.other->has_more || side.other->is_ended) forward(*side.other);
  }

  void passEnd(Side& from) {
    Side& to = *from.other;
    if (!from.is_ended || from.has_more || !to.unsent.empty() || to.is_shut) return;
    to.is_shut = true;
    shutdown(to.fd, SHUT_WR);
    if (from.is_shut) close(*from.pair);
  }

  void close(Pair& pair) {
    if (pair.is_closed) return;
    pair.is_closed = true;
    ::close(pair.client.fd);
    ::close(pair.upstream.fd);
    closed_.emplace_back(&pair);
  }

  const int epoll_;
  const int listener_;
  const uint16_t upstream_port_;
  const std::unique_ptr<char[]> buffer_;
  std::vector<std::unique_ptr<Pair>> closed_;
};

}  // namespace
}  // namespace fairlead::bench

int main(int argc, char** argv) {
  using namespace fairlead::bench;
  if (argc != 3) {
    std::fprintf(stderr, "usage: floor LISTEN_PORT UPSTREAM_PORT\n");
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);
  raiseDescriptorLimit();
  Relay(portArgument(argv[1]), portArgument(argv[2])).run();
}
