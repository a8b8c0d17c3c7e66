#include "upstream/address_race.h"

#include <sys/epoll.h>

#include <algorithm>
#include <utility>

#include "upstream/connect_socket.h"

namespace fairlead::upstream {

namespace {

// As the real server.
constexpr net::Millis kPatienceMs = 300;
constexpr uint32_t kFailed = EPOLLERR | EPOLLHUP;

}  // namespace

class AddressRace::Try final : public net::EventHandler, public net::Mortal {
 public:
  Try(AddressRace& race, net::FileDescriptor fd) : race_(&race), fd_(std::move(fd)) {}

  int fd() const { return fd_.get(); }
  net::FileDescriptor takeSocket() { return std::move(fd_); }
  // Events of the same turn may still name it.
  void leave() {
    race_ = nullptr;
    fd_.close();
  }

  void onEvents(uint32_t events) override {
    if (race_ && (events & (EPOLLOUT | kFailed))) race_->onTried(*this, (events & kFailed) != 0);
  }

 private:
  AddressRace* race_;
  net::FileDescriptor fd_;
};

std::unique_ptr<AddressRace> AddressRace::begin(const std::vector<plan::Address>& addresses,
                                                const plan::Cluster& settings,
                                                const ConnectionUse& use, net::FileDescriptor* fd,
                                                int* error) {
  std::vector<net::Address> all;
  for (const plan::Address& address : addresses) all.push_back(net::Address::fromPlan(address));
  size_t next = 0;
  while (next < all.size() && !fd->valid()) {
    *fd = beginConnect(all[next++], settings, use.source, error);
  }
  countFurther(use.stats, use.host_counters, next - 1);
  if (!fd->valid()) return nullptr;
  return std::unique_ptr<AddressRace>(new AddressRace(std::move(all), next, settings, use));
}

AddressRace::AddressRace(std::vector<net::Address> addresses, size_t next,
                         const plan::Cluster& settings, const ConnectionUse& use)
    : WrappingTransport(nullptr),
      addresses_(std::move(addresses)),
      next_(next),
      settings_(settings),
      stats_(use.stats),
      host_counters_(use.host_counters) {
  if (use.source) from_ = *use.source;
}

void AddressRace::countFurther(stats::Shard<stats::Cluster>* stats, HostCounters* host,
                               size_t addresses) {
  if (addresses == 0 || !stats) return;
  stats->add(stats::Cluster::Counter::UpstreamCxTotal, addresses);
  for (size_t i = 0; i < addresses; ++i) host->cx_total.add();
}

AddressRace::~AddressRace() { buryTries(); }

void AddressRace::attach(net::Connection& connection) {
  WrappingTransport::attach(connection);
  if (next_ == addresses_.size()) {
    is_over_ = true;
    return;
  }
  net::Loop& loop = connection.loop();
  loop.timers().arm(this, loop.now() + kPatienceMs);
}

uint32_t AddressRace::onEvents(uint32_t events) {
  if (is_over_) return WrappingTransport::onEvents(events);
  if (winner_.valid() || has_own_failed_) return 0;
  if (!(events & (EPOLLOUT | kFailed))) return events;
  if (events & kFailed) {
    has_own_failed_ = true;
    if (startNext() || !tries_.empty()) return 0;
  }
  settle({});
  return WrappingTransport::onEvents(events);
}

bool AddressRace::startNext() {
  net::Loop& loop = connection_->loop();
  while (next_ < addresses_.size()) {
    int error = 0;
    countFurther(stats_, host_counters_, 1);
    net::FileDescriptor fd =
        beginConnect(addresses_[next_++], settings_, from_ ? &*from_ : nullptr, &error);
    if (!fd.valid()) continue;
    auto one = std::make_unique<Try>(*this, std::move(fd));
    if (!loop.add(one->fd(), one.get())) continue;
    tries_.push_back(std::move(one));
    if (next_ < addresses_.size()) loop.timers().arm(this, loop.now() + kPatienceMs);
    return true;
  }
  return false;
}

void AddressRace::onTried(Try& one, bool has_failed) {
  const auto found = std::find_if(tries_.begin(), tries_.end(),
                                  [&one](const auto& other) { return other.get() == &one; });
  std::unique_ptr<Try> tried = std::move(*found);
  tries_.erase(found);
  net::Loop& loop = connection_->loop();
  // It is the connection's failure when it is the last.
  const bool is_last = has_own_failed_ && tries_.empty();
  if (!has_failed || (!startNext() && is_last)) {
    loop.remove(tried->fd());
    settle(tried->takeSocket());
  }
  tried->leave();
  loop.bury(std::move(tried));
}

// `winner`: not valid: it is the connection's own.
void AddressRace::settle(net::FileDescriptor winner) {
  Timer::disarm();
  buryTries();
  if (!winner.valid()) {
    is_over_ = true;
    return;
  }
  winner_ = std::move(winner);
  connection_->loop().defer(this);
}

void AddressRace::onDeferred() {
  is_over_ = true;
  connection_->replaceSocket(std::move(winner_));
}

void AddressRace::buryTries() {
  for (std::unique_ptr<Try>& one : tries_) {
    one->leave();
    connection_->loop().bury(std::move(one));
  }
  tries_.clear();
}

}  // namespace fairlead::upstream
