// A listener on one worker: accepts, picks the filter chain, counts.
// Owned by its worker; the worker's thread. Each worker has a socket of its own (SO_REUSEPORT), so
// that the kernel spreads connections and no lock is shared. Where there are more sockets than
// workers (a predecessor had more), all workers accept from those that are left over.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/runtime_slots.h"
#include "net/all_connections.h"
#include "net/downstream_connection.h"
#include "net/event_handler.h"
#include "net/filter_chain_match.h"
#include "net/loop.h"
#include "net/overload.h"
#include "net/pending_connection.h"
#include "net/worker_balance.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"

namespace fairlead::net {

class SharedStates;

// A listener as all threads share it. Immutable, but for the count of its connections.
struct ListenerConfig {
  plan::Listener plan;
  ListenerFilters filters;
  // Where it is bound: the kernel's port when the plan says 0.
  Address address;
  // And where besides.
  std::vector<Address> more_addresses;
  std::shared_ptr<stats::Block<stats::Listener>> stats;
  // One per worker.
  std::vector<std::shared_ptr<stats::Block<stats::ListenerWorker>>> worker_stats;
  // How many connections may be open at once, and how many are.
  RuntimeNumber max_connections{UINT64_MAX, 0, nullptr};
  std::shared_ptr<AllConnections> all_connections = std::make_shared<AllConnections>();
  std::shared_ptr<std::atomic<uint64_t>> connections = std::make_shared<std::atomic<uint64_t>>(0);
  // Null: each worker has the connections that it accepts.
  std::shared_ptr<WorkerBalance> balance;
};

// Which filter chain takes a connection, and which chains there are. Immutable; shared by all
// workers. Put in the place of another as a whole.
struct FilterChains {
  FilterChainMatch match;
  // Of each chain, among all that the listener ever has; 0: it is never found again.
  std::vector<uint64_t> ids;
};

// A socket that workers may share, and that a successor may be given.
using ListenSocket = std::shared_ptr<const FileDescriptor>;

// Makes a bound socket. `address`: what to bind to. The error names the address.
Result<FileDescriptor> openListenSocket(const plan::Listener& listener, const Address& address);
// Sets what it can of the options that such a socket is given before it is bound.
void adoptListenSocket(int fd, const plan::Listener& listener);
// Connections come from here on; on a socket that listens it sets the length of the queue.
Result<void> listenOn(int fd, const plan::Listener& listener, const Address& address);
// Where a socket is bound.
Address boundAddress(int fd);

class Listener;

// The listeners of one worker.
class ListenerDirectory {
 public:
  // The one that is bound to the address, or else to its port on all addresses; null: there is
  // none.
  virtual Listener* findListener(const Address& local) = 0;
  // Another worker takes it, if it has this listener.
  virtual void handOver(unsigned worker, const ListenerConfig& listener, AcceptedSocket socket) = 0;

 protected:
  ~ListenerDirectory() = default;
};

class Listener final : public EventHandler,
                       public Mortal,
                       private ConnectionAccounts,
                       private PendingConnection::Owner,
                       private Timer,
                       private Deferred {
 public:
  // `log`: null where there is none. `directory`: needed where the plan has connections handed on.
  Listener(Loop& loop, std::shared_ptr<const ListenerConfig> config,
           std::vector<ListenSocket> sockets, unsigned worker, std::unique_ptr<ConnectionLog> log,
           ListenerDirectory* directory = nullptr);
  ~Listener();

  const ListenerConfig& config() const { return *config_; }
  // Makes connections of the chain that has this place; null closes them at once.
  using MakeFactory = std::function<std::unique_ptr<ConnectionFactory>(size_t place)>;
  // What takes connections from here on. Chains that there were before go on with their
  // connections; those that are not among `chains` take no new ones, until they are ended.
  void setChains(std::shared_ptr<const FilterChains> chains, const MakeFactory& make);
  // The chain of that number makes its connections so from here on; those that there are go on as
  // they are, and end with it.
  void changeChain(uint64_t id, std::unique_ptr<ConnectionFactory> factory);
  // Ends the connections of chains that take no new ones. Others are left alone.
  void endChains(std::span<const uint64_t> ids);
  // Accepts from here on. What the kernel refuses to watch is looked at every now and then, and
  // watched as soon as it can be.
  void start();
  // Takes what waits in the queues, which would be reset when the sockets close.
  void acceptWaiting();
  // No new connections; the sockets close, unless others hold them too.
  void stop();
  // Leaves new connections to others that have the same sockets.
  void pause();
  // Accepts again, from these sockets.
  void resume(std::vector<ListenSocket> sockets);
  void abortConnections();
  // Connections hear onDrain().
  void tellDrain();
  // Sheds what this says, which outlives it. `random` decides of whom.
  void follow(const Overload& overload, Random& random);
  // What it follows says something else.
  void onOverloadChanged();
  // Adds the streams of its connections.
  void addStreams(HeavyStreams* into);
  // Ends those on which nothing is under way.
  void abortQuietConnections();
  // Accepts what another listener accepted.
  void takeOver(AcceptedSocket socket) { take(std::move(socket)); }
  // What another worker has accepted, and WorkerBalance has counted for this one.
  void takeBalanced(AcceptedSocket socket) {
    begin(std::move(socket));
    config_->balance->remove(worker_);
  }
  // As InternalListeners: of one that is internal.
  FileDescriptor connect(const Address& to, std::shared_ptr<const format::PassedMetadata> metadata,
                         const SharedStates* states);
  bool hasConnections() const;

  void onEvents(uint32_t events) override;

 private:
  // On this worker. Nobody's before its connections have ended.
  struct Chain final : Mortal {
    Chain(uint64_t of, std::unique_ptr<ConnectionFactory> made)
        : id(of), factory(std::move(made)) {}

    const uint64_t id;
    const std::unique_ptr<ConnectionFactory> factory;
    List<DownstreamConnection> connections;
  };
  using Chains = std::vector<std::unique_ptr<Chain>>;

  static void abortAll(Chain& chain);
  static void abortQuiet(Chain& chain);
  void onConnectionOpened() override;
  void onConnectionClosed(const DownstreamConnection& connection, uint64_t length_ms) override;
  void onTimer() override;
  void onDeferred() override {
    acceptInternal();
    acceptAll();
  }
  // Whoever connects is not in the middle of it any more.
  void acceptInternal();
  void acceptAll();
  // How many it took, at most `limit` if that is not 0.
  uint64_t acceptFrom(int listen_fd, uint64_t limit);
  void take(AcceptedSocket socket);
  // False: there are too many, or it is shed, which is counted.
  bool mayTake();
  // Where it goes on the worker that has the fewest connections.
  void balance(AcceptedSocket socket);
  void begin(AcceptedSocket socket);
  // It is shed, which is counted.
  bool sheds();
  // What could not be done, with errno set; said once until all is well again.
  void retryLater(const char* what);
  // What it is before anybody has had a look.
  static void beginFindings(AcceptedSocket& socket);
  void letFiltersLook(AcceptedSocket socket);
  void onOutcome(PendingConnection& pending, PendingConnection::Outcome outcome) override;
  void countOutcome(PendingConnection::Outcome outcome);
  // Among all connections.
  bool isCounted() const;
  // Of all connections, those among them that are not through their listener filters.
  void countOpen();
  void countClosed();
  void admit(AcceptedSocket socket);
  // The listener that it is meant for; null: this one.
  Listener* otherFor(const AcceptedSocket& socket) const;
  void chooseChain(AcceptedSocket socket);

  Loop& loop_;
  const std::shared_ptr<const ListenerConfig> config_;
  std::vector<ListenSocket> sockets_;
  // Where the next turn begins, so that a full queue does not keep the others waiting.
  size_t first_ = 0;
  bool is_in_trouble_ = false;
  std::shared_ptr<const FilterChains> match_;
  // As `match_` numbers them.
  Chains chains_;
  // They have only the connections that they have.
  Chains leaving_;
  const std::unique_ptr<ConnectionLog> log_;
  const unsigned worker_;
  ListenerDirectory* const directory_;
  const Overload* overload_ = &Overload::none();
  Random* random_ = nullptr;
  // Connections are left in the queues.
  bool is_held_ = false;
  // From within.
  std::vector<AcceptedSocket> internal_;
  // Their listener filters wait.
  List<PendingConnection> pending_;
  stats::Shard<stats::Listener>& stats_;
  stats::Shard<stats::ListenerWorker>& worker_stats_;
};

}  // namespace fairlead::net
