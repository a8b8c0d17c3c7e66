#include "net/listener.h"

#include <linux/tcp.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <utility>

#include "log/log.h"
#include "net/bind.h"
#include "net/connection_id.h"
#include "net/internal_listeners.h"

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
                                 std::shared_ptr<const format::PassedMetadata> metadata) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) return {};
  if (const uint32_t bytes = config_->plan.internal_buffer_bytes) {
    for (const int end : ends) setOption(end, SOL_SOCKET, SO_SNDBUF, static_cast<int>(bytes));
  }
  AcceptedSocket socket{FileDescriptor(ends[0]), InternalListeners::clientAddress(), to,
                        takeConnectionId()};
  if (metadata) {
    socket.findings = std::make_unique<Findings>();
    socket.findings->direct_remote = socket.remote;
    socket.findings->direct_local = socket.local;
    socket.findings->accepted_at_us = Loop::readClockMicros();
    socket.findings->passed_metadata = std::move(metadata);
  }
  internal_.push_back(std::move(socket));
  loop_.defer(this);
  return FileDescriptor(ends[1]);
}

void Listener::acceptInternal() {
  for (AcceptedSocket& socket : std::exchange(internal_, {})) take(std::move(socket));
}

void Listener::acceptWaiting() {
  acceptInternal();
  for (const ListenSocket& socket : sockets_) acceptFrom(socket->get(), 0);
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

void Listener::acceptAll() {
  if (is_held_) return;
  const uint32_t limit = config_->plan.max_connections_to_accept_per_socket_event;
  uint64_t accepted = 0;
  // An accepted connection never stops its listener: that comes by a task.
  for (size_t i = 0; i < sockets_.size() && (limit == 0 || accepted < limit); ++i) {
    const ListenSocket& socket = sockets_[(first_ + i) % sockets_.size()];
    accepted += acceptFrom(socket->get(), limit > 0 ? limit - accepted : 0);
  }
  if (limit > 0 && accepted >= limit) {
    // The edge is used up: what is left is taken in the next turn.
    ++first_;
    loop_.yield(this);
  }
  if (accepted > 0) stats_.record(Histogram::ConnectionsAcceptedPerSocketEvent, accepted);
}

uint64_t Listener::acceptFrom(int listen_fd, uint64_t limit) {
  uint64_t accepted = 0;
  while (limit == 0 || accepted < limit) {
    sockaddr_storage storage;
    socklen_t size = sizeof(storage);
    auto* raw = reinterpret_cast<sockaddr*>(&storage);
    FileDescriptor fd(::accept4(listen_fd, raw, &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!fd.valid()) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      // Whatever else it is: connections that wait bring no new edge.
      if (errno != EAGAIN) retryLater("accept on");
      break;
    }
    ++accepted;
    Address local = boundAddress(fd.get());
    // A client of a pipe has no name: as the real server has it, it has that of the pipe.
    Address remote = size > sizeof(sa_family_t) ? Address::fromKernel(raw, size) : local;
    AcceptedSocket socket{std::move(fd), std::move(remote), std::move(local), takeConnectionId()};
    config_->balance ? balance(std::move(socket)) : take(std::move(socket));
  }
  return accepted;
}

void Listener::balance(AcceptedSocket socket) {
  if (!mayTake()) return;
  const unsigned chosen = config_->balance->choose();
  if (chosen != worker_ && directory_) {
    directory_->handOver(chosen, *config_, std::move(socket));
    return;
  }
  begin(std::move(socket));
  config_->balance->remove(chosen);
}

void Listener::take(AcceptedSocket socket) {
  if (mayTake()) begin(std::move(socket));
}

bool Listener::mayTake() {
  if (!config_->plan.ignores_connection_limit && config_->all_connections->areTooMany()) {
    log::trace(log::Component::ConnHandler,
               "closing connection: global connection limit reached for ", config_->plan.name);
    stats_.add(Counter::DownstreamGlobalCxOverflow);
    config_->all_connections->countRefusal(worker_ + 1);
    return false;
  }
  if (overload_->isActive() && sheds()) return false;
  const uint64_t open = config_->connections->load(std::memory_order_relaxed);
  if (open >= config_->max_connections.value()) {
    log::trace(log::Component::ConnHandler,
               "closing connection: listener connection limit reached for ", config_->plan.name);
    stats_.add(Counter::DownstreamCxOverflow);
    return false;
  }
  return true;
}

void Listener::begin(AcceptedSocket socket) {
  if (config_->filters.empty()) {
    // Nobody waits to become a connection.
    if (!stats_.isSet(Gauge::DownstreamPreCxActive)) stats_.set(Gauge::DownstreamPreCxActive, 0);
    chooseChain(std::move(socket));
  } else {
    letFiltersLook(std::move(socket));
  }
}

bool Listener::sheds() {
  using Subject = Overload::Subject;
  if (!overload_->takes(Subject::RejectIncomingConnections, *random_) &&
      !overload_->sheds(Subject::PointTcpListenerAccept, *random_)) {
    return false;
  }
  log::trace(log::Component::ConnHandler, "closing connection: it is shed by ", config_->plan.name);
  stats_.add(Counter::DownstreamCxOverloadReject);
  return true;
}

void Listener::letFiltersLook(AcceptedSocket socket) {
  if (!socket.findings) {
    socket.findings = std::make_unique<Findings>();
    socket.findings->direct_remote = socket.remote;
    socket.findings->direct_local = socket.local;
    socket.findings->accepted_at_us = Loop::readClockMicros();
  }
  for (const ListenerFilterEntry& entry : config_->filters) {
    if (entry.config->isThere(worker_)) continue;
    log::debug(log::Component::ConnHandler, log::Tags{.connection = socket.id},
               "closing connection: a listener filter of it has not come");
    stats_.add(Counter::ExtensionConfigMissing);
    if (log_) log_->onUnfinished(socket);
    return;
  }
  countOpen();
  stats_.up(Gauge::DownstreamPreCxActive);
  // Owns itself; may be over already when start() returns.
  auto* pending = new PendingConnection(loop_, *this, config_->filters, worker_, std::move(socket));
  pending_.pushBack(pending);
  pending->start(config_->plan.listener_filters_timeout_ms);
}

void Listener::onOutcome(PendingConnection& pending, PendingConnection::Outcome outcome) {
  using Outcome = PendingConnection::Outcome;
  stats_.down(Gauge::DownstreamPreCxActive);
  countOutcome(outcome);
  AcceptedSocket socket = pending.takeSocket();
  // It is counted again as what it becomes.
  countClosed();
  const bool goes_on = outcome == Outcome::TimedOut
                           ? config_->plan.continue_on_listener_filters_timeout
                           : outcome == Outcome::Passed;
  if (goes_on) {
    admit(std::move(socket));
  } else {
    log::debug(log::Component::ConnHandler, log::Tags{.connection = socket.id},
               "closing connection: its listener filters did not let it pass");
    if (log_) log_->onUnfinished(socket);
  }
}

void Listener::countOutcome(PendingConnection::Outcome outcome) {
  switch (outcome) {
    case PendingConnection::Outcome::TimedOut:
      return stats_.add(Counter::DownstreamPreCxTimeout);
    case PendingConnection::Outcome::ClosedByPeer:
      return stats_.add(Counter::DownstreamListenerFilterRemoteClose);
    case PendingConnection::Outcome::Failed:
      return stats_.add(Counter::DownstreamListenerFilterError);
    case PendingConnection::Outcome::Passed:
    case PendingConnection::Outcome::Refused:
    case PendingConnection::Outcome::Aborted:
      return;
  }
}

void Listener::admit(AcceptedSocket socket) {
  Listener* const other = otherFor(socket);
  if (!other) return chooseChain(std::move(socket));
  socket.findings->was_handed_on = true;
  other->takeOver(std::move(socket));
}

Listener* Listener::otherFor(const AcceptedSocket& socket) const {
  const Findings& findings = *socket.findings;
  if (!config_->plan.hands_on_redirected || !findings.is_local_restored || findings.was_handed_on) {
    return nullptr;
  }
  Listener* const found = directory_ ? directory_->findListener(socket.local) : nullptr;
  return found == this ? nullptr : found;
}

void Listener::chooseChain(AcceptedSocket socket) {
  ChainFacts facts{socket.local, socket.directRemote(), socket.remote};
  if (const Findings* findings = socket.findings.get()) {
    facts.server_name = findings->server_name;
    if (!findings->transport_protocol.empty()) {
      facts.transport_protocol = findings->transport_protocol;
    }
    facts.application_protocols = findings->application_protocols;
  }
  const int found = match_->match.find(facts);
  log::debug(log::Component::ConnHandler, log::Tags{.connection = socket.id},
             "new connection from ", [&] { return socket.remote.text(); });
  if (found == FilterChainMatch::kNone) {
    log::debug(log::Component::ConnHandler, log::Tags{.connection = socket.id},
               "closing connection: no matching filter chain found");
    stats_.add(Counter::NoFilterChainMatch);
    if (log_) log_->onUnmatched(socket);
    return;
  }
  Chain& chain = *chains_[static_cast<size_t>(found)];
  if (!chain.factory) {
    stats_.add(Counter::DownstreamCxTotal);
    stats_.add(Counter::DownstreamCxDestroy);
    return;
  }
  if (DownstreamConnection* connection = chain.factory->accept(std::move(socket), *this)) {
    chain.connections.pushBack(connection);
  }
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
