// The way of a connection to its filter chain: out of the queue, past limits and listener filters.
#include <cerrno>
#include <utility>

#include "log/log.h"
#include "net/connection_id.h"
#include "net/listener.h"

namespace fairlead::net {

namespace {

using Counter = stats::Listener::Counter;
using Gauge = stats::Listener::Gauge;
using Histogram = stats::Listener::Histogram;

}  // namespace

void Listener::acceptInternal() {
  for (AcceptedSocket& socket : std::exchange(internal_, {})) take(std::move(socket));
}

void Listener::acceptWaiting() {
  acceptInternal();
  for (const ListenSocket& socket : sockets_) acceptFrom(socket->get(), 0);
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

void Listener::beginFindings(AcceptedSocket& socket) {
  socket.findings = std::make_unique<Findings>();
  socket.findings->direct_remote = socket.remote;
  socket.findings->direct_local = socket.local;
  socket.findings->accepted_at_us = Loop::readClockMicros();
}

void Listener::letFiltersLook(AcceptedSocket socket) {
  if (!socket.findings) beginFindings(socket);
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

}  // namespace fairlead::net
