#include "filters/network/connection_guard.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "filters/network/network_ext_authz.h"
#include "filters/network/network_ratelimit.h"
#include "filters/network/network_rbac.h"
#include "net/connection.h"
#include "net/wrapping_transport.h"

namespace fairlead::filters {

namespace {

using Verdict = GuardPass::Verdict;

// Beneath one connection; its worker's thread.
class GuardTransport final : public net::WrappingTransport,
                             private GuardWaiter,
                             private net::Timer {
 public:
  GuardTransport(const ConnectionGuards& guards, Guarded guarded, net::DownstreamConnection& owner,
                 unsigned worker, std::unique_ptr<net::Transport> inner)
      : WrappingTransport(std::move(inner)),
        is_relay_(guarded == Guarded::Relay),
        is_deaf_(guarded == Guarded::Deaf) {
    for (const auto& guard : guards) {
      holds_back_ |= guard->isFirst();
      passes_.push_back(guard->make(owner, worker, *this));
    }
  }

  bool holdsBack() const override { return holds_back_ || WrappingTransport::holdsBack(); }

  Handshake handshake(int fd) override {
    if (is_gone_) return Handshake::Failed;
    while (opened_ < passes_.size()) {
      switch (passes_[opened_]->onOpen()) {
        case Verdict::Waits:
          return Handshake::Waiting;
        case Verdict::Refused:
          if (!is_relay_) drain(fd);
          return Handshake::Failed;
        case Verdict::Passes:
          ++opened_;
      }
    }
    return inner_ ? inner_->handshake(fd) : Handshake::Done;
  }

  // A client that has gone waits for nothing.
  uint32_t onEvents(uint32_t events) override {
    is_gone_ = opened_ < passes_.size() && (events & (EPOLLERR | EPOLLHUP)) != 0;
    return WrappingTransport::onEvents(events);
  }

  ssize_t read(int fd, char* to, size_t room) override {
    if (is_refused_) return refuse();
    if (isHolding()) return release(to, room);
    const ssize_t got = WrappingTransport::read(fd, to, room);
    if (got < 0 || is_deaf_ || (got == 0 && !is_relay_)) return got;
    // The end may be read more than once, and comes but once.
    if (got == 0 && std::exchange(was_end_read_, true)) return got;
    switch (ask()) {
      case Verdict::Passes:
        return got;
      case Verdict::Waits:
        held_.assign(to, static_cast<size_t>(got));
        has_end_ = got == 0;
        errno = EAGAIN;
        return -1;
      case Verdict::Refused:
        // It came, though nobody sees it.
        connection_->countSpliced(static_cast<uint64_t>(got), 0);
        return refuse();
    }
    return got;
  }

 private:
  bool isHolding() const { return has_end_ || !held_.empty(); }

  // What guards have let go on by now.
  ssize_t release(char* to, size_t room) {
    if (!was_asked_) {
      const Verdict verdict = ask();
      if (verdict == Verdict::Refused) connection_->countSpliced(held_.size(), 0);
      if (verdict == Verdict::Refused) return refuse();
      if (verdict == Verdict::Waits) {
        errno = EAGAIN;
        return -1;
      }
    }
    if (held_.empty()) {
      has_end_ = false;
      return 0;
    }
    const size_t size = std::min(room, held_.size());
    std::memcpy(to, held_.data(), size);
    held_.erase(0, size);
    if (held_.empty()) std::string().swap(held_);
    // Nothing of the socket tells of what else has come meanwhile.
    connection_->wake(EPOLLIN);
    return static_cast<ssize_t>(size);
  }

  // In their order: none is asked before those in front of it let it pass.
  Verdict ask() {
    for (; next_ < passes_.size(); ++next_) {
      GuardPass& pass = *passes_[next_];
      if (was_asked_ && !pass.isContinuous()) continue;
      const Verdict verdict = pass.onData();
      if (verdict == Verdict::Refused) deny(pass.delay());
      if (verdict != Verdict::Passes) return verdict;
    }
    next_ = 0;
    was_asked_ = true;
    return Verdict::Passes;
  }

  void deny(net::Millis delay_ms) {
    is_refused_ = true;
    if (delay_ms == 0) return;
    net::Loop& loop = connection_->loop();
    loop.timers().arm(this, loop.now() + delay_ms);
  }

  ssize_t refuse() {
    errno = Timer::isArmed() ? EAGAIN : EPERM;
    return -1;
  }

  // What is left unread would make a reset of the end.
  void drain(int fd) {
    char bytes[1024];
    while (WrappingTransport::read(fd, bytes, sizeof(bytes)) > 0) {
    }
  }

  // net::Timer
  void onTimer() override { connection_->wake(EPOLLIN); }
  // GuardWaiter
  void onVerdict() override { connection_->wake(EPOLLIN | EPOLLOUT); }

  const bool is_relay_;
  const bool is_deaf_;
  std::vector<std::unique_ptr<GuardPass>> passes_;
  // What has come, and waits.
  std::string held_;
  // Those that have let it come.
  size_t opened_ = 0;
  // Whom to ask of what has come.
  size_t next_ = 0;
  bool has_end_ = false;
  bool was_end_read_ = false;
  bool is_gone_ = false;
  bool holds_back_ = false;
  bool was_asked_ = false;
  bool is_refused_ = false;
};

class GuardTransports final : public net::TransportFactory {
 public:
  GuardTransports(ConnectionGuards guards, Guarded guarded, net::SharedTransport inner)
      : guards_(std::move(guards)), guarded_(guarded), inner_(std::move(inner)) {}

  std::unique_ptr<net::Transport> make(const net::TransportTarget& target) const override {
    return std::make_unique<GuardTransport>(guards_, guarded_, *target.owner, target.worker,
                                            net::makeTransport(inner_, target));
  }
  bool isTls() const override { return net::isTls(inner_); }

 private:
  const ConnectionGuards guards_;
  const Guarded guarded_;
  const net::SharedTransport inner_;
};

Result<std::shared_ptr<const ConnectionGuard>> buildGuard(const plan::ConnectionGuard& plan,
                                                          const GuardScope& scope) {
  if (plan.rbac) return NetworkRbac::build(*plan.rbac, scope);
  if (plan.ext_authz) return NetworkExtAuthz::build(*plan.ext_authz, scope);
  if (plan.ratelimit) return NetworkRatelimit::build(*plan.ratelimit, scope);
  return Error{"a guard of a kind that is not known here"};
}

}  // namespace

Result<net::SharedTransport> guardConnections(const std::vector<plan::ConnectionGuard>& plans,
                                              net::SharedTransport inner, Guarded guarded,
                                              const GuardScope& scope) {
  ConnectionGuards guards;
  for (const plan::ConnectionGuard& plan : plans) {
    auto guard = buildGuard(plan, scope);
    if (!guard) return guard.error();
    guards.push_back(std::move(guard.value()));
  }
  return net::SharedTransport(
      std::make_shared<GuardTransports>(std::move(guards), guarded, std::move(inner)));
}

}  // namespace fairlead::filters
