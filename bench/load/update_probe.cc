// Clients and two origins at once, on one clock: how soon a proxy stops using a host that an update
// takes away, and what the update costs the requests meanwhile. The hosts come from a file of EDS,
// which is replaced again and again, to name the other origin each time.
//
//   update_probe CONNECTIONS ROUNDS PERIOD_MS
//
// Prints the origins' ports, "A B\n"; then reads "PORT HOST CLUSTER FILE\n": the proxy's port, the
// authority to ask for, and whose hosts FILE has. Prints one line of JSON for each round:
// {"last_old_us":…, "first_new_us":…, "during":{…}, "apart":{…}}: since the file was replaced, when
// the last request came to the old origin and the first to the new one; requests of the round's
// first half, and of its second: {"requests":…, "p50_us":…, "p99_us":…, "max_us":…}.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "bench/load/exchange.h"

namespace fairlead::bench {
namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kReadBytes = 64 * 1024;
constexpr int kEventsPerTurn = 256;
constexpr std::string_view kAnswer =
    "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 5\r\n\r\nhello";

int64_t microsBetween(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration_cast<std::chrono::microseconds>(to - from).count();
}

struct Peer {
  enum class Kind { Listener, Host, Client };
  Kind kind;
  int fd;
  // Which origin it is of.
  int origin = 0;
  Clock::time_point sent_at = {};
  std::string partial = {};
};

class Latencies {
 public:
  void add(int64_t us) { all_.push_back(us); }

  std::string toJson() {
    std::sort(all_.begin(), all_.end());
    const auto at = [this](double quantile) {
      return all_.empty() ? 0 : all_[static_cast<size_t>(quantile * (all_.size() - 1))];
    };
    return "{\"requests\":" + std::to_string(all_.size()) +
           ",\"p50_us\":" + std::to_string(at(0.5)) + ",\"p99_us\":" + std::to_string(at(0.99)) +
           ",\"max_us\":" + std::to_string(at(1)) + "}";
  }

 private:
  std::vector<int64_t> all_;
};

// The file with the hosts of a cluster.
class HostsFile {
 public:
  HostsFile(std::string path, std::string cluster)
      : path_(std::move(path)), cluster_(std::move(cluster)) {}

  // Returns when it was there.
  Clock::time_point put(uint16_t port) {
    const std::string next = path_ + ".next";
    std::ofstream(next) << "{\"version_info\":\"" << ++version_ << "\",\"resources\":[{"
                        << "\"@type\":\"type.googleapis.com/"
                           "envoy.config.endpoint.v3.ClusterLoadAssignment\","
                        << "\"cluster_name\":\"" << cluster_ << "\",\"endpoints\":[{"
                        << "\"lb_endpoints\":[{\"endpoint\":{\"address\":{\"socket_address\":{"
                        << "\"address\":\"127.0.0.1\",\"port_value\":" << port << "}}}}]}]}]}";
    check(std::rename(next.c_str(), path_.c_str()), "rename");
    return Clock::now();
  }

 private:
  const std::string path_;
  const std::string cluster_;
  int version_ = 0;
};

class Probe {
 public:
  Probe() : epoll_(check(epoll_create1(EPOLL_CLOEXEC), "epoll_create1")) {
    for (int origin = 0; origin < 2; ++origin) {
      const int fd = listenOn(0);
      ports_[origin] = boundPort(fd);
      add(Peer::Kind::Listener, fd, origin, EPOLLIN);
    }
  }

  uint16_t port(int origin) const { return ports_[origin]; }

  void connect(uint16_t proxy, const std::string& host, int count) {
    request_ = "GET / HTTP/1.1\r\nhost: " + host + "\r\n\r\n";
    for (int i = 0; i < count; ++i) {
      const int fd = connectBlocking(proxy);
      ask(*add(Peer::Kind::Client, fd, 0, EPOLLIN));
    }
  }

  // Half of `period` with the update at its beginning, half without one.
  void round(HostsFile& file, Clock::duration period) {
    latencies_[0] = latencies_[1] = {};
    last_[current_] = Clock::now();
    const int old = current_;
    current_ = 1 - current_;
    last_[current_] = first_[current_] = {};
    const Clock::time_point started = file.put(ports_[current_]);
    runUntil(started + period / 2, latencies_[0]);
    runUntil(started + period, latencies_[1]);
    std::printf("{\"last_old_us\":%lld,\"first_new_us\":%lld,\"during\":%s,\"apart\":%s}\n",
                static_cast<long long>(microsBetween(started, last_[old])),
                static_cast<long long>(microsBetween(started, first_[current_])),
                latencies_[0].toJson().c_str(), latencies_[1].toJson().c_str());
    std::fflush(stdout);
  }

  // To warm up: nothing is said of it.
  void run(Clock::duration time) {
    Latencies unused;
    runUntil(Clock::now() + time, unused);
  }

 private:
  void runUntil(Clock::time_point end, Latencies& latencies) {
    epoll_event events[kEventsPerTurn];
    while (Clock::now() < end) {
      const int count = epoll_wait(epoll_, events, kEventsPerTurn, 1);
      for (int i = 0; i < count; ++i) {
        onReadable(*static_cast<Peer*>(events[i].data.ptr), latencies);
      }
    }
  }

  void onReadable(Peer& peer, Latencies& latencies) {
    if (peer.kind == Peer::Kind::Listener) {
      for (int fd; (fd = acceptFrom(peer.fd)) >= 0;) {
        add(Peer::Kind::Host, fd, peer.origin, EPOLLIN);
      }
      return;
    }
    const ssize_t got = recv(peer.fd, buffer_, sizeof buffer_, MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      if (peer.kind == Peer::Kind::Client) fail("a client's connection has ended");
      // A host that was taken away.
      close(peer.fd);
      return;
    }
    const std::string_view bytes(buffer_, static_cast<size_t>(got));
    peer.kind == Peer::Kind::Host ? onRequest(peer, bytes) : onAnswer(peer, bytes, latencies);
  }

  void onRequest(Peer& host, std::string_view bytes) {
    host.partial.append(bytes);
    if (!host.partial.ends_with("\r\n\r\n")) return;
    host.partial.clear();
    last_[host.origin] = Clock::now();
    if (first_[host.origin] == Clock::time_point()) first_[host.origin] = last_[host.origin];
    if (send(host.fd, kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL) < 0) fail("send");
  }

  void onAnswer(Peer& client, std::string_view bytes, Latencies& latencies) {
    client.partial.append(bytes);
    if (!client.partial.ends_with("\r\n\r\nhello")) return;
    if (!client.partial.starts_with("HTTP/1.1 200 ")) {
      std::fprintf(stderr, "not answered as it should be: %s\n", client.partial.c_str());
      std::exit(1);
    }
    client.partial.clear();
    latencies.add(microsBetween(client.sent_at, Clock::now()));
    ask(client);
  }

  void ask(Peer& client) {
    client.sent_at = Clock::now();
    if (send(client.fd, request_.data(), request_.size(), MSG_NOSIGNAL) < 0) fail("send");
  }

  Peer* add(Peer::Kind kind, int fd, int origin, uint32_t events) {
    peers_.push_back(std::make_unique<Peer>(Peer{.kind = kind, .fd = fd, .origin = origin}));
    watch(epoll_, fd, events, peers_.back().get());
    return peers_.back().get();
  }

  const int epoll_;
  std::string request_;
  uint16_t ports_[2] = {};
  // Which origin the file names.
  int current_ = 0;
  // When each got a request: the first and the last since it was named or left.
  Clock::time_point first_[2] = {};
  Clock::time_point last_[2] = {};
  // Of the round's halves.
  Latencies latencies_[2];
  std::vector<std::unique_ptr<Peer>> peers_;
  char buffer_[kReadBytes];
};

}  // namespace
}  // namespace fairlead::bench

int main(int argc, char** argv) {
  using namespace fairlead::bench;
  if (argc != 4) {
    std::fprintf(stderr, "usage: update_probe CONNECTIONS ROUNDS PERIOD_MS\n");
    return 2;
  }
  raiseDescriptorLimit();
  const auto probe = std::make_unique<Probe>();
  std::printf("%u %u\n", probe->port(0), probe->port(1));
  std::fflush(stdout);
  std::string proxy, host, cluster, path;
  if (!(std::cin >> proxy >> host >> cluster >> path)) return 2;
  HostsFile file(path, cluster);
  const std::chrono::milliseconds period(std::atoi(argv[3]));
  probe->connect(portArgument(proxy.c_str()), host, std::atoi(argv[1]));
  probe->run(std::chrono::seconds(1));
  for (int round = 0; round < std::atoi(argv[2]); ++round) probe->round(file, period);
}
