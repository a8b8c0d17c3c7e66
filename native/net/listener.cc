#include "net/listener.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "log/log.h"
#include "net/connection_id.h"
#include "net/filter_state.h"
#include "net/internal_listeners.h"
#include "net/shared_states.h"

namespace fairlead::net {

namespace {

using Counter = stats::Listener::Counter;
using Gauge = stats::Listener::Gauge;
using Histogram = stats::Listener::Histogram;
using WorkerCounter = stats::ListenerWorker::Counter;
using WorkerGauge = stats::ListenerWorker::Gauge;

// The system refuses something, as descriptors: it is asked again after this long.
constexpr Millis kRetryMs = 100;

}  // namespace

Listener::Listener(Loop& loop, std::shared_ptr<const ListenerConfig> config,
                   std::vector<ListenSocket> sockets, unsigned worker,
                   std::unique_ptr<ConnectionLog> log, ListenerDirectory* directory)
    : loop_(loop),
      config_(std::move(config)),
      sockets_(std::move(sockets)),
      match_(std::make_shared<const FilterChains>()),
      log_(std::move(log)),
      worker_(worker),
      directory_(directory),
      stats_(*config_->stats->shard(worker + 1)),
      worker_stats_(*config_->worker_stats[worker]->shard(worker + 1)) {}

Listener::~Listener() {
  stop();
  abortConnections();
}

void Listener::setChains(std::shared_ptr<const FilterChains> chains, const MakeFactory& make) {
  Chains before = std::exchange(chains_, {});
  for (size_t place = 0; place < chains->ids.size(); ++place) {
    const uint64_t id = chains->ids[place];
    const auto known = std::find_if(before.begin(), before.end(), [id](const auto& chain) {
      return chain && id != 0 && chain->id == id;
    });
    if (known != before.end()) {
      chains_.push_back(std::move(*known));
    } else {
      chains_.push_back(std::make_unique<Chain>(id, make(place)));
    }
  }
  for (auto& chain : before) {
    if (chain) leaving_.push_back(std::move(chain));
  }
  match_ = std::move(chains);
}

void Listener::changeChain(uint64_t id, std::unique_ptr<ConnectionFactory> factory) {
  const auto found = std::find_if(chains_.begin(), chains_.end(),
                                  [id](const auto& chain) { return chain->id == id; });
  if (found == chains_.end()) return;
  std::unique_ptr<Chain> before =
      std::exchange(*found, std::make_unique<Chain>(id, std::move(factory)));
  leaving_.push_back(std::move(before));
  // Of what was changed earlier, too: it would stay as long as the chain does.
  std::erase_if(leaving_, [&](std::unique_ptr<Chain>& chain) {
    if (chain->id != id || !chain->connections.empty()) return false;
    loop_.bury(std::move(chain));
    return true;
  });
}

void Listener::endChains(std::span<const uint64_t> ids) {
  std::erase_if(leaving_, [&](std::unique_ptr<Chain>& chain) {
    if (std::find(ids.begin(), ids.end(), chain->id) == ids.end()) return false;
    abortAll(*chain);
    // What its connections leave behind may still be of it until the turn ends.
    loop_.bury(std::move(chain));
    return true;
  });
}

void Listener::start() {
  for (const ListenSocket& socket : sockets_) {
    if (!loop_.add(socket->get(), this) && errno != EEXIST) retryLater("watch");
  }
}

void Listener::retryLater(const char* what) {
  const int error = errno;
  if (!std::exchange(is_in_trouble_, true)) {
    log::error(log::Component::ConnHandler, "cannot ", what, " listener '", config_->plan.name,
               "', tries again: ", [error]() -> std::string_view { return std::strerror(error); });
  }
  loop_.timers().arm(this, loop_.now() + kRetryMs);
}

void Listener::pause() {
  Timer::disarm();
  if (internal_.empty()) Deferred::unlink();
  for (const ListenSocket& socket : sockets_) loop_.remove(socket->get());
}

FileDescriptor Listener::connect(const Address& to,
                                 std::shared_ptr<const format::PassedMetadata> metadata,
                                 const SharedStates* states) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) return {};
  if (const uint32_t bytes = config_->plan.internal_buffer_bytes) {
    for (const int end : ends) setOption(end, SOL_SOCKET, SO_SNDBUF, static_cast<int>(bytes));
  }
  AcceptedSocket socket{FileDescriptor(ends[0]), InternalListeners::clientAddress(), to,
                        takeConnectionId()};
  if (metadata || states) {
    beginFindings(socket);
    socket.findings->passed_metadata = std::move(metadata);
    if (states) {
      socket.findings->filter_state = std::make_shared<FilterState>();
      states->keepIn(socket.findings->filter_state.get());
    }
  }
  internal_.push_back(std::move(socket));
  loop_.defer(this);
  return FileDescriptor(ends[1]);
}

void Listener::stop() {
  pause();
  sockets_.clear();
}

void Listener::resume(std::vector<ListenSocket> sockets) {
  stop();
  sockets_ = std::move(sockets);
  start();
}

bool Listener::hasConnections() const {
  const auto isBusy = [](const auto& chain) { return !chain->connections.empty(); };
  return !pending_.empty() || std::any_of(chains_.begin(), chains_.end(), isBusy) ||
         std::any_of(leaving_.begin(), leaving_.end(), isBusy);
}

void Listener::abortConnections() {
  while (PendingConnection* pending = pending_.front()) pending->abort();
  for (const auto& chain : chains_) abortAll(*chain);
  for (const auto& chain : leaving_) abortAll(*chain);
}

void Listener::addStreams(HeavyStreams* into) {
  for (const Chains* chains : {&chains_, &leaving_}) {
    for (const auto& chain : *chains) {
      List<DownstreamConnection>& all = chain->connections;
      for (DownstreamConnection* one = all.front(); one; one = all.next(one)) one->addStreams(into);
    }
  }
}

void Listener::tellDrain() {
  for (const Chains* chains : {&chains_, &leaving_}) {
    for (const auto& chain : *chains) {
      List<DownstreamConnection>& all = chain->connections;
      for (DownstreamConnection* one = all.front(); one; one = all.next(one)) one->onDrain();
    }
  }
}

void Listener::abortAll(Chain& chain) {
  while (DownstreamConnection* connection = chain.connections.front()) connection->abort();
}

void Listener::abortQuietConnections() {
  for (PendingConnection* pending = pending_.front(); pending;) {
    PendingConnection* const next = pending_.next(pending);
    if (pending->isQuiet()) pending->abort();
    pending = next;
  }
  for (const auto& chain : chains_) abortQuiet(*chain);
  for (const auto& chain : leaving_) abortQuiet(*chain);
}

void Listener::abortQuiet(Chain& chain) {
  for (DownstreamConnection* connection = chain.connections.front(); connection;) {
    DownstreamConnection* const next = chain.connections.next(connection);
    if (connection->isQuiet()) connection->abort();
    connection = next;
  }
}

void Listener::follow(const Overload& overload, Random& random) {
  overload_ = &overload;
  random_ = &random;
  onOverloadChanged();
}

// The edge of what comes meanwhile is used up: it is looked for afterwards.
void Listener::onOverloadChanged() {
  const bool was_held =
      std::exchange(is_held_, overload_->isSaturated(Overload::Subject::StopAcceptingConnections));
  if (was_held && !is_held_ && !sockets_.empty()) loop_.yield(this);
}

void Listener::onEvents(uint32_t) { acceptAll(); }

void Listener::onTimer() {
  start();
  acceptAll();
  if (Timer::isArmed() || !std::exchange(is_in_trouble_, false)) return;
  log::info(log::Component::ConnHandler, "listener '", config_->plan.name, "' accepts again");
}

bool Listener::isCounted() const {
  return !config_->plan.ignores_connection_limit || config_->all_connections->countsExempt();
}

void Listener::countOpen() {
  if (isCounted()) config_->all_connections->add();
  config_->connections->fetch_add(1, std::memory_order_relaxed);
  if (config_->balance) config_->balance->add(worker_);
}

void Listener::countClosed() {
  if (isCounted()) config_->all_connections->remove();
  config_->connections->fetch_sub(1, std::memory_order_relaxed);
  if (config_->balance) config_->balance->remove(worker_);
}

void Listener::onConnectionOpened() {
  countOpen();
  stats_.add(Counter::DownstreamCxTotal);
  stats_.up(Gauge::DownstreamCxActive);
  worker_stats_.add(WorkerCounter::DownstreamCxTotal);
  worker_stats_.up(WorkerGauge::DownstreamCxActive);
}

void Listener::onConnectionClosed(const DownstreamConnection& connection, uint64_t length_ms) {
  countClosed();
  stats_.add(Counter::DownstreamCxDestroy);
  stats_.down(Gauge::DownstreamCxActive);
  stats_.record(Histogram::DownstreamCxLengthMs, length_ms);
  worker_stats_.down(WorkerGauge::DownstreamCxActive);
  if (log_) log_->onEnded(connection);
}

}  // namespace fairlead::net
