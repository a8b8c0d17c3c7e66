// One listen socket on one worker: accepts, picks the filter chain, counts.
// Owned by its worker; the worker's thread. Each worker has a socket of its own (SO_REUSEPORT), so
// that the kernel spreads connections and no lock is shared.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/downstream_connection.h"
#include "net/event_handler.h"
#include "net/filter_chain_match.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"

namespace fairlead::net {

// A listener as all threads share it. Immutable.
struct ListenerConfig {
  plan::Listener plan;
  FilterChainMatch match;
  // Where it is bound: the kernel's port when the plan says 0.
  Address address;
  std::shared_ptr<stats::Block<stats::Listener>> stats;
  // One per worker.
  std::vector<std::shared_ptr<stats::Block<stats::ListenerWorker>>> worker_stats;
};

// Makes a bound and listening socket. `address`: what to bind to. The error names the address.
Result<FileDescriptor> openListenSocket(const plan::Listener& listener, const Address& address);
// Where a socket is bound.
Address boundAddress(int fd);

class Listener final : public EventHandler, private ConnectionAccounts, private Timer {
 public:
  // `factories`: one for each filter chain of the plan; null closes its connections at once.
  Listener(Loop& loop, std::shared_ptr<const ListenerConfig> config, FileDescriptor socket,
           unsigned worker, std::vector<std::unique_ptr<ConnectionFactory>> factories);
  ~Listener();

  const ListenerConfig& config() const { return *config_; }
  // False: the kernel refuses to watch the socket.
  bool start();
  // No new connections; the socket closes.
  void stop();
  void abortConnections();
  bool hasConnections() const { return !connections_.empty(); }

  void onEvents(uint32_t events) override;

 private:
  void onConnectionOpened() override;
  void onConnectionClosed(uint64_t length_ms) override;
  void onTimer() override;
  void acceptAll();
  void take(AcceptedSocket socket);

  Loop& loop_;
  const std::shared_ptr<const ListenerConfig> config_;
  FileDescriptor socket_;
  std::vector<std::unique_ptr<ConnectionFactory>> factories_;
  List<DownstreamConnection> connections_;
  stats::Shard<stats::Listener>& stats_;
  stats::Shard<stats::ListenerWorker>& worker_stats_;
};

}  // namespace fairlead::net
