// Load for TCP relays: K connections, each sends the same request and reads the same number of
// bytes, again and again, for T seconds. A probe learns that number first; no head is read later.
//
//   tcp_load PORT PATH CONNECTIONS SECONDS
//
// Prints one line of JSON: {"requests":…, "seconds":…, "p50_us":…, "p99_us":…, "failed":…}.
#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "bench/load/exchange.h"

namespace fairlead::bench {
namespace {

constexpr size_t kReadBytes = 256 * 1024;
constexpr int kEventsPerTurn = 512;

using Clock = std::chrono::steady_clock;

struct Client {
  int fd = -1;
  bool is_connected = false;
  size_t left_bytes = 0;
  Clock::time_point sent_at;
};

// Latencies in exact microseconds up to one second; slower ones count as one second.
class Latencies {
 public:
  void record(Clock::duration latency) {
    const auto us = std::chrono::duration_cast<std::chrono::microseconds>(latency).count();
    ++counts_[std::min<size_t>(static_cast<size_t>(us), counts_.size() - 1)];
    ++total_;
  }

  size_t quantileUs(double quantile) const {
    const auto rank = static_cast<uint64_t>(quantile * static_cast<double>(total_));
    uint64_t seen = 0;
    for (size_t us = 0; us < counts_.size(); ++us) {
      seen += counts_[us];
      if (seen > rank) return us;
    }
    return counts_.size() - 1;
  }

  uint64_t total() const { return total_; }

 private:
  std::vector<uint32_t> counts_ = std::vector<uint32_t>(1'000'001);
  uint64_t total_ = 0;
};

class Load {
 public:
  Load(uint16_t port, std::string request, size_t answer_bytes, size_t connections)
      : epoll_(check(epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
        request_(std::move(request)),
        answer_bytes_(answer_bytes),
        clients_(connections),
        buffer_(new char[kReadBytes]) {
    for (Client& client : clients_) {
      client.fd = connectTo(port);
      watch(epoll_, client.fd, EPOLLIN | EPOLLOUT | EPOLLET, &client);
    }
  }

  void run(double seconds) {
    const auto started = Clock::now();
    const auto end = started + std::chrono::duration_cast<Clock::duration>(
                                   std::chrono::duration<double>(seconds));
    std::vector<epoll_event> events(kEventsPerTurn);
    auto now = started;
    while (now < end) {
      const int count = epoll_wait(epoll_, events.data(), kEventsPerTurn, 100);
      now = Clock::now();
      for (int i = 0; i < count; ++i) {
        onEvent(*static_cast<Client*>(events[i].data.ptr), events[i].events, now);
      }
    }
    const double elapsed_s = std::chrono::duration<double>(now - started).count();
    std::printf(
        "{\"requests\":%llu,\"seconds\":%.4f,\"p50_us\":%zu,\"p99_us\":%zu,"
        "\"failed\":%zu}\n",
        static_cast<unsigned long long>(latencies_.total()), elapsed_s, latencies_.quantileUs(0.5),
        latencies_.quantileUs(0.99), failed_);
  }

 private:
  void onEvent(Client& client, uint32_t events, Clock::time_point now) {
    if (client.fd < 0) return;
    if (events & (EPOLLERR | EPOLLHUP)) return drop(client);
    if (!client.is_connected && (events & EPOLLOUT)) {
      client.is_connected = true;
      ask(client, now);
    }
    if (events & EPOLLIN) readAll(client, now);
  }

  void ask(Client& client, Clock::time_point now) {
    client.sent_at = now;
    client.left_bytes = answer_bytes_;
    const ssize_t sent = send(client.fd, request_.data(), request_.size(), MSG_NOSIGNAL);
    // One small request in flight always fits the socket's buffer.
    if (sent != static_cast<ssize_t>(request_.size())) drop(client);
  }

  void readAll(Client& client, Clock::time_point now) {
    while (client.fd >= 0) {
      const ssize_t got = read(client.fd, buffer_.get(), kReadBytes);
      if (got < 0 && errno == EAGAIN) return;
      if (got <= 0 || static_cast<size_t>(got) > client.left_bytes) return drop(client);
      client.left_bytes -= static_cast<size_t>(got);
      if (client.left_bytes == 0) {
        latencies_.record(now - client.sent_at);
        return ask(client, now);
      }
      if (static_cast<size_t>(got) < kReadBytes) return;
    }
  }

  void drop(Client& client) {
    ++failed_;
    close(client.fd);
    client.fd = -1;
  }

  const int epoll_;
  const std::string request_;
  const size_t answer_bytes_;
  std::vector<Client> clients_;
  const std::unique_ptr<char[]> buffer_;
  Latencies latencies_;
  size_t failed_ = 0;
};

}  // namespace
}  // namespace fairlead::bench

int main(int argc, char** argv) {
  using namespace fairlead::bench;
  if (argc != 5) {
    std::fprintf(stderr, "usage: tcp_load PORT PATH CONNECTIONS SECONDS\n");
    return 2;
  }
  raiseDescriptorLimit();
  const uint16_t port = portArgument(argv[1]);
  const std::string request = requestFor(argv[2]);
  const int probe = connectBlocking(port);
  const size_t answer_bytes = exchange(probe, request);
  close(probe);
  Load load(port, request, answer_bytes, std::strtoul(argv[3], nullptr, 10));
  load.run(std::strtod(argv[4], nullptr));
}
