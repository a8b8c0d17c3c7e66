#include "net/pending_connection.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace fairlead::net {

PendingConnection::PendingConnection(Loop& loop, Owner& owner, const ListenerFilters& filters,
                                     unsigned worker, AcceptedSocket socket)
    : loop_(loop), owner_(owner), filters_(filters), worker_(worker), socket_(std::move(socket)) {}

void PendingConnection::start(Millis timeout_ms) {
  run();
  if (over_) return;
  // Most clients have sent what is asked for by now; only for the others is the socket watched.
  is_watched_ = loop_.add(socket_.fd.get(), this);
  if (!is_watched_) return end(Outcome::Failed);
  if (timeout_ms > 0) loop_.timers().arm(this, loop_.now() + timeout_ms);
}

bool PendingConnection::isQuiet() const {
  // As for a connection: who has just come is likely to say something.
  constexpr uint64_t kThinkUs = 100'000;
  return !has_bytes_ && loop_.nowMicros() >= socket_.findings->accepted_at_us + kThinkUs;
}

void PendingConnection::onEvents(uint32_t events) {
  if (over_) return;
  // What came before the end still counts.
  if (events & (EPOLLRDHUP | EPOLLHUP)) peer_ = Peer::Ended;
  if (events & EPOLLERR) peer_ = Peer::Failed;
  run();
}

void PendingConnection::run() {
  if (runFilters()) return end(Outcome::Passed);
  if (over_ || peer_ == Peer::There) return;
  end(peer_ == Peer::Ended ? Outcome::ClosedByPeer : Outcome::Failed);
}

bool PendingConnection::runFilters() {
  for (; next_ < filters_.size(); ++next_) {
    const ListenerFilterEntry& entry = filters_[next_];
    if (!filter_) {
      if (entry.disabled && entry.disabled->matches(socket_)) continue;
      filter_ = entry.config->make(worker_);
    }
    switch (filter_->look(*this)) {
      case ListenerFilter::Verdict::Continue:
        filter_.reset();
        continue;
      case ListenerFilter::Verdict::Wait:
        return false;
      case ListenerFilter::Verdict::Refuse:
        end(Outcome::Refused);
        return false;
    }
  }
  return true;
}

std::string_view PendingConnection::peek() {
  char* const buffer = loop_.readBuffer();
  const ssize_t got = ::recv(socket_.fd.get(), buffer, Loop::kReadBufferBytes, MSG_PEEK);
  if (got > 0) {
    has_bytes_ = true;
    return {buffer, static_cast<size_t>(got)};
  }
  if (got == 0) {
    peer_ = Peer::Ended;
  } else if (errno != EAGAIN && errno != EINTR) {
    peer_ = Peer::Failed;
  }
  return {};
}

bool PendingConnection::take(size_t bytes) {
  while (bytes > 0) {
    const size_t part = std::min(bytes, Loop::kReadBufferBytes);
    const ssize_t got = ::recv(socket_.fd.get(), loop_.readBuffer(), part, 0);
    if (got <= 0) return false;
    bytes -= static_cast<size_t>(got);
  }
  return true;
}

void PendingConnection::end(Outcome outcome) {
  if (std::exchange(over_, true)) return;
  Timer::disarm();
  // Whose connection it becomes registers it anew, and hears of what is there.
  if (is_watched_) loop_.remove(socket_.fd.get());
  ListNode<PendingConnection>::unlink();
  loop_.bury(std::unique_ptr<Mortal>(this));
  owner_.onOutcome(*this, outcome);
}

}  // namespace fairlead::net
