#include "worker/listen_sockets.h"

#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>

namespace fairlead::worker {

namespace {

bool sharesPort(int fd) {
  int on = 0;
  socklen_t size = sizeof(on);
  return ::getsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, &size) == 0 && on != 0;
}

bool isAnyPort(const plan::Listener& plan) {
  return plan.address && plan.address->port == 0 && !plan.address->ip.empty();
}

bool isSame(int one, int other) {
  struct stat first;
  struct stat second;
  return ::fstat(one, &first) == 0 && ::fstat(other, &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

// They would be set up alike.
bool wantSameSocket(const plan::Listener& one, const plan::Listener& other) {
  const auto sameOption = [](const plan::SocketOption& a, const plan::SocketOption& b) {
    return a.level == b.level && a.name == b.name && a.value == b.value && a.state == b.state;
  };
  const plan::Address here = one.address.value_or(plan::Address());
  const plan::Address there = other.address.value_or(plan::Address());
  return here.ip == there.ip && here.port == there.port && here.pipe == there.pipe &&
         here.internal_listener == there.internal_listener && one.reuse_port == other.reuse_port &&
         one.transparent == other.transparent && one.freebind == other.freebind &&
         one.pipe_mode == other.pipe_mode && one.unbound == other.unbound &&
         one.mptcp == other.mptcp && one.network_namespace == other.network_namespace &&
         one.tcp_fast_open_queue_length == other.tcp_fast_open_queue_length &&
         std::equal(one.socket_options.begin(), one.socket_options.end(),
                    other.socket_options.begin(), other.socket_options.end(), sameOption);
}

net::ListenSocket share(net::FileDescriptor socket) {
  return std::make_shared<const net::FileDescriptor>(std::move(socket));
}

// Of each address, as if it were the only one.
std::vector<plan::Listener> byAddress(const plan::Listener& plan) {
  plan::Listener first = plan;
  first.filter_chains.clear();
  first.more_addresses.clear();
  std::vector<plan::Listener> all(1 + plan.more_addresses.size(), first);
  for (size_t i = 0; i < plan.more_addresses.size(); ++i) {
    const plan::ListenAddress& more = plan.more_addresses[i];
    plan::Listener& one = all[i + 1];
    one.address = more.address;
    one.socket_options = more.socket_options;
    one.pipe_mode = more.pipe_mode;
    one.network_namespace = more.network_namespace;
  }
  return all;
}

}  // namespace

bool ListenSockets::Open::areShared() const {
  return std::all_of(bound.begin(), bound.end(), [](const Bound& one) { return one.are_shared; });
}

Result<ListenSockets::Open> ListenSockets::open(const plan::Listener& plan,
                                                const std::vector<net::Address>& before) const {
  Open open;
  open.listener = plan.name;
  for (plan::Listener& one : byAddress(plan)) {
    Bound bound;
    bound.any_port = isAnyPort(one);
    bound.address = net::Address::fromPlan(one.address.value_or(plan::Address()));
    if (bound.any_port && open.bound.size() < before.size()) {
      bound.address = before[open.bound.size()];
    }
    bound.plan = std::move(one);
    if (const auto done = bind(&bound, open); !done) return done.error();
    open.bound.push_back(std::move(bound));
  }
  return open;
}

Result<void> ListenSockets::bind(Bound* bound, const Open& others) const {
  const plan::Listener& plan = bound->plan;
  findOpened(bound, others);
  const bool is_first_there = !bound->sockets.empty();
  if (is_first_there) bound->address = net::boundAddress(bound->sockets.front()->get());
  bound->one_each = plan.reuse_port && bound->address.isIp() &&
                    (!is_first_there || sharesPort(bound->sockets.front()->get()));
  const size_t wanted = plan.unbound ? 0 : bound->one_each ? workers_ : 1;
  while (bound->sockets.size() < wanted) {
    Result<net::FileDescriptor> socket = net::openListenSocket(plan, bound->address);
    if (!socket) return socket.error();
    // The kernel's port for all, when the plan left it open.
    if (bound->sockets.empty() && bound->address.isIp()) {
      bound->address = net::boundAddress(socket.value().get());
    }
    bound->sockets.push_back(share(std::move(socket.value())));
  }
  bound->address_text = bound->address.text();
  return {};
}

void ListenSockets::findOpened(Bound* bound, const Open& others) const {
  if (bound->plan.unbound) return;
  if (const Bound* const current = findShared(*bound, others)) {
    bound->sockets = current->sockets;
    bound->inherited_as = current->inherited_as;
    bound->are_shared = true;
    return;
  }
  if (const auto* inherited = findInherited(*bound, others)) {
    bound->inherited_as = inherited->first;
    bound->sockets = inherited->second.sockets;
    for (const net::ListenSocket& socket : bound->sockets) {
      net::adoptListenSocket(socket->get(), bound->plan);
    }
    return;
  }
  bound->sockets = findClosing(bound->plan, bound->address.text());
}

const ListenSockets::Bound* ListenSockets::findShared(const Bound& bound,
                                                      const Open& others) const {
  const auto current = open_.find(others.listener);
  if (current == open_.end()) return nullptr;
  const auto isTaken = [&others](const Bound& one) {
    return std::any_of(others.bound.begin(), others.bound.end(), [&one](const Bound& other) {
      return other.are_shared && other.sockets == one.sockets;
    });
  };
  for (const Bound& one : current->second.bound) {
    if (wantSameSocket(one.plan, bound.plan) && !isTaken(one)) return &one;
  }
  return nullptr;
}

ListenSockets::ByWorker ListenSockets::keep(Open open) {
  for (const Bound& bound : open.bound) {
    if (bound.inherited_as.empty()) continue;
    taken_.insert(bound.inherited_as);
    inherited_.erase(bound.inherited_as);
  }
  ByWorker by_worker = distribute(open);
  if (!open.areShared()) close(open.listener);
  open_[open.listener] = std::move(open);
  return by_worker;
}

void ListenSockets::close(const std::string& listener) {
  std::erase_if(closing_, [](const Closing& closing) {
    return std::all_of(closing.sockets.begin(), closing.sockets.end(),
                       [](const auto& socket) { return socket.expired(); });
  });
  const auto found = open_.find(listener);
  if (found == open_.end()) return;
  for (Bound& bound : found->second.bound) remember(std::move(bound));
  open_.erase(found);
}

void ListenSockets::remember(Bound bound) {
  closing_.push_back({std::move(bound.plan), std::move(bound.address_text), {}});
  closing_.back().sockets.assign(bound.sockets.begin(), bound.sockets.end());
}

ListenSockets::Left ListenSockets::closeOthers(const std::string& listener,
                                               const std::set<std::string>& addresses) {
  const auto found = open_.find(listener);
  if (found == open_.end()) return Left::None;
  std::vector<Bound>& bound = found->second.bound;
  const size_t before = bound.size();
  std::erase_if(bound, [&](Bound& one) {
    if (addresses.contains(one.address_text)) return false;
    remember(std::move(one));
    return true;
  });
  if (bound.size() == before) return Left::All;
  if (!bound.empty()) return Left::Some;
  open_.erase(found);
  return Left::None;
}

std::vector<net::ListenSocket> ListenSockets::findClosing(const plan::Listener& plan,
                                                          const std::string& address) const {
  std::vector<net::ListenSocket> sockets;
  for (const Closing& closing : closing_) {
    if (closing.address_text != address || !wantSameSocket(closing.plan, plan)) continue;
    for (const auto& closed : closing.sockets) {
      if (net::ListenSocket socket = closed.lock()) sockets.push_back(std::move(socket));
    }
  }
  return sockets;
}

Result<void> ListenSockets::listen(const Open& open) const {
  if (!is_listening_) return {};
  for (const Bound& bound : open.bound) {
    if (const auto done = listenOn(bound); !done) return done;
  }
  return {};
}

// Inherited ones get the plan's length of the queue, whatever the predecessor's was.
Result<void> ListenSockets::listenOn(const Bound& bound) {
  for (const net::ListenSocket& socket : bound.sockets) {
    const auto done = net::listenOn(socket->get(), bound.plan, bound.address);
    if (!done) return done;
  }
  return {};
}

void ListenSockets::refuse(const Open& open) {
  for (const Bound& bound : open.bound) {
    // The predecessor may go on with it.
    if (!bound.inherited_as.empty()) continue;
    for (const net::ListenSocket& socket : bound.sockets) ::shutdown(socket->get(), SHUT_RD);
  }
}

std::map<std::string, Error> ListenSockets::startListening() {
  is_listening_ = true;
  std::map<std::string, Error> errors;
  for (const auto& [listener, open] : open_) {
    for (const Bound& bound : open.bound) {
      if (const auto done = listenOn(bound); !done) errors.emplace(listener, done.error());
    }
    if (errors.contains(listener)) refuse(open);
  }
  return errors;
}

ListenSockets::ByWorker ListenSockets::distribute(const Open& open) const {
  ByWorker by_worker(workers_);
  for (const Bound& bound : open.bound) {
    for (size_t i = 0; i < bound.sockets.size(); ++i) {
      if (bound.one_each && i < workers_) {
        by_worker[i].push_back(bound.sockets[i]);
      } else {
        for (auto& sockets : by_worker) sockets.push_back(bound.sockets[i]);
      }
    }
  }
  return by_worker;
}

ListenSockets::ByWorker ListenSockets::distribute(const std::string& listener) const {
  const auto found = open_.find(listener);
  return found == open_.end() ? ByWorker(workers_) : distribute(found->second);
}

std::vector<PassedSocket> ListenSockets::all() const {
  std::vector<PassedSocket> result;
  for (const auto& [listener, open] : open_) {
    for (const Bound& bound : open.bound) {
      for (const net::ListenSocket& socket : bound.sockets) {
        result.push_back({listener, bound.address_text, bound.any_port, socket});
      }
    }
  }
  return result;
}

void ListenSockets::inherit(PassedSocket passed) {
  Inherited& inherited = inherited_[passed.address];
  inherited.listener = std::move(passed.listener);
  inherited.any_port = passed.any_port;
  // Where one predecessor dies another may hand the same over.
  for (const net::ListenSocket& socket : inherited.sockets) {
    if (isSame(socket->get(), passed.socket->get())) return;
  }
  inherited.sockets.push_back(std::move(passed.socket));
}

const std::pair<const std::string, ListenSockets::Inherited>* ListenSockets::findInherited(
    const Bound& bound, const Open& others) const {
  const auto fits = [&](const auto& entry) {
    const auto& [text, inherited] = entry;
    const bool is_taken =
        std::any_of(others.bound.begin(), others.bound.end(),
                    [&text](const Bound& other) { return other.inherited_as == text; });
    if (is_taken) return false;
    if (!bound.any_port) return text == bound.address.text();
    const net::Address address = net::boundAddress(inherited.sockets.front()->get());
    return inherited.any_port && inherited.listener == others.listener &&
           address.sameIp(bound.address);
  };
  const auto found = std::find_if(inherited_.begin(), inherited_.end(), fits);
  return found == inherited_.end() ? nullptr : &*found;
}

std::set<std::string> ListenSockets::endInheritance() {
  inherited_.clear();
  return std::exchange(taken_, {});
}

}  // namespace fairlead::worker
