// What a connection costs before its first byte, and what a task for a worker does.
#include <poll.h>
#include <sys/socket.h>

#include <string>
#include <vector>

#include "base/check.h"
#include "bench/micro/micro.h"
#include "net/filter_chain_match.h"
#include "net/listener.h"
#include "net/loop.h"

namespace fairlead::net {

namespace {

Address addressOf(std::string_view text) {
  Address address;
  FL_CHECK(parseIp(text, &address));
  return address;
}

// 10.0.0.0/16, 10.1.0.0/16, …: one chain each.
FilterChainMatch chainsBySource(size_t count) {
  std::vector<plan::FilterChain> chains(count);
  for (size_t i = 0; i < count; ++i) {
    const Address network = addressOf("10." + std::to_string(i) + ".0.0:1");
    chains[i].match.emplace().source = {{std::string(network.ipBytes()), 16}};
  }
  return FilterChainMatch(chains);
}

void matchLast(micro::State& state, size_t count) {
  const FilterChainMatch match = chainsBySource(count);
  const Address local = addressOf("127.0.0.1:443");
  const Address remote = addressOf("10." + std::to_string(count - 1) + ".1.1:9");
  FL_CHECK(match.find({local, remote, remote}) == static_cast<int>(count) - 1);
  for (auto _ : state) micro::keep(match.find({local, remote, remote}));
}

// Closes what it is given.
class Closing final : public ConnectionFactory {
  DownstreamConnection* accept(AcceptedSocket, ConnectionAccounts&) override { return nullptr; }
};

}  // namespace

MICRO("net: find a filter chain, 3 by source range") { matchLast(state, 3); }
MICRO("net: find a filter chain, 100 by source range") { matchLast(state, 100); }

MICRO("net: 64 tasks for a loop, posted and run") {
  Loop loop;
  int run = 0;
  for (auto _ : state) {
    for (int i = 0; i < 64; ++i) loop.post([&run] { ++run; });
    loop.turn(0);
  }
  micro::keep(run);
}

// With what the client's side of it costs.
MICRO("net: accept a connection") {
  Loop loop;
  auto config = std::make_shared<ListenerConfig>();
  config->plan.name = "in";
  config->stats = std::make_shared<stats::Block<stats::Listener>>(stats::listenerScope("in"), 2);
  config->worker_stats.push_back(std::make_shared<stats::Block<stats::ListenerWorker>>(
      stats::listenerWorkerScope("in", 0), 2));
  const Address any = addressOf("127.0.0.1:0");
  Result<FileDescriptor> opened = openListenSocket(config->plan, any);
  FL_CHECK(opened.ok());
  config->plan.backlog = 128;
  FL_CHECK(listenOn(opened.value().get(), config->plan, any).ok());
  const Address bound = boundAddress(opened.value().get());
  const auto socket = std::make_shared<const FileDescriptor>(std::move(opened.value()));
  Listener listener(loop, config, {socket}, 0, nullptr);
  listener.setChains(std::make_shared<FilterChains>(
                         FilterChains{FilterChainMatch(std::vector<plan::FilterChain>(1)), {0}}),
                     [](size_t) { return std::make_unique<Closing>(); });
  listener.start();
  for (auto _ : state) {
    const FileDescriptor client(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    // Ended with a reset, it leaves no port behind that waits.
    const linger now = {1, 0};
    ::setsockopt(client.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
    FL_CHECK(::connect(client.get(), bound.raw(), bound.rawSize()) == 0);
    loop.turn(0);
  }
}

}  // namespace fairlead::net
