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
         one.tcp_fast_open_queue_length == other.tcp_fast_open_queue_length &&
         std::equal(one.socket_options.begin(), one.socket_options.end(),
                    other.socket_options.begin(), other.socket_options.end(), sameOption);
}

net::ListenSocket share(net::FileDescriptor socket) {
  return std::make_shared<const net::FileDescriptor>(std::move(socket));
}

}  // namespace

Result<ListenSockets::Open> ListenSockets::open(const plan::Listener& plan) const {
  Open open;
  open.plan = plan;
  open.plan.filter_chains.clear();
  open.any_port = isAnyPort(plan);
  open.address = net::Address::fromPlan(plan.address.value_or(plan::Address()));
  findOpened(plan, &open);
  const bool is_first_shared = !open.sockets.empty();
  if (is_first_shared) open.address = net::boundAddress(open.sockets.front()->get());
  open.one_each = plan.reuse_port && open.address.isIp() &&
                  (!is_first_shared || sharesPort(open.sockets.front()->get()));
  const size_t wanted = plan.unbound ? 0 : open.one_each ? workers_ : 1;
  while (open.sockets.size() < wanted) {
    Result<net::FileDescriptor> socket = net::openListenSocket(plan, open.address);
    if (!socket) return socket.error();
    // The kernel's port for all, when the plan left it open.
    if (open.sockets.empty() && open.address.isIp()) {
      open.address = net::boundAddress(socket.value().get());
    }
    open.sockets.push_back(share(std::move(socket.value())));
  }
  open.address_text = open.address.text();
  if (is_listening_) {
    if (const auto listening = listenOn(open); !listening) return listening.error();
  }
  return open;
}

void ListenSockets::findOpened(const plan::Listener& plan, Open* open) const {
  if (plan.unbound) return;
  const auto current = open_.find(plan.name);
  if (current != open_.end() && wantSameSocket(current->second.plan, plan)) {
    open->sockets = current->second.sockets;
    open->are_shared = true;
    return;
  }
  if (const auto* inherited = findInherited(plan, open->address)) {
    open->inherited_as = inherited->first;
    open->sockets = inherited->second.sockets;
    for (const net::ListenSocket& socket : open->sockets) {
      net::adoptListenSocket(socket->get(), plan);
    }
    return;
  }
  open->sockets = findClosing(plan, open->address.text());
}

ListenSockets::ByWorker ListenSockets::keep(Open open) {
  if (!open.inherited_as.empty()) {
    taken_.insert(open.inherited_as);
    inherited_.erase(open.inherited_as);
  }
  ByWorker by_worker = distribute(open);
  if (!open.are_shared) close(open.plan.name);
  open_[open.plan.name] = std::move(open);
  return by_worker;
}

void ListenSockets::close(const std::string& listener) {
  std::erase_if(closing_, [](const Closing& closing) {
    return std::all_of(closing.sockets.begin(), closing.sockets.end(),
                       [](const auto& socket) { return socket.expired(); });
  });
  const auto found = open_.find(listener);
  if (found == open_.end()) return;
  Open& open = found->second;
  closing_.push_back({std::move(open.plan), open.address_text, {}});
  closing_.back().sockets.assign(open.sockets.begin(), open.sockets.end());
  open_.erase(found);
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

// Inherited ones get the plan's length of the queue, whatever the predecessor's was.
Result<void> ListenSockets::listenOn(const Open& open) {
  if (open.sockets.empty()) return {};
  for (const net::ListenSocket& socket : open.sockets) {
    if (const auto done = net::listenOn(socket->get(), open.plan, open.address); !done) return done;
  }
  return {};
}

std::map<std::string, Error> ListenSockets::startListening() {
  is_listening_ = true;
  std::map<std::string, Error> errors;
  for (const auto& [listener, open] : open_) {
    if (const auto done = listenOn(open); !done) errors.emplace(listener, done.error());
  }
  return errors;
}

ListenSockets::ByWorker ListenSockets::distribute(const Open& open) const {
  ByWorker by_worker(workers_);
  for (size_t i = 0; i < open.sockets.size(); ++i) {
    if (open.one_each && i < workers_) {
      by_worker[i].push_back(open.sockets[i]);
    } else {
      for (auto& sockets : by_worker) sockets.push_back(open.sockets[i]);
    }
  }
  return by_worker;
}

ListenSockets::ByWorker ListenSockets::distribute(const std::string& listener) const {
  const auto found = open_.find(listener);
  return found == open_.end() ? ByWorker(workers_) : distribute(found->second);
}

std::string ListenSockets::addressOf(const std::string& listener) const {
  const auto found = open_.find(listener);
  return found == open_.end() ? std::string() : found->second.address_text;
}

std::vector<PassedSocket> ListenSockets::all() const {
  std::vector<PassedSocket> result;
  for (const auto& [listener, open] : open_) {
    for (const net::ListenSocket& socket : open.sockets) {
      result.push_back({listener, open.address_text, open.any_port, socket});
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
    const plan::Listener& plan, const net::Address& address) const {
  const auto fits = [&](const auto& entry) {
    const auto& [text, inherited] = entry;
    if (!isAnyPort(plan)) return text == address.text();
    net::Address bound = net::boundAddress(inherited.sockets.front()->get());
    return inherited.any_port && inherited.listener == plan.name && bound.sameIp(address);
  };
  const auto found = std::find_if(inherited_.begin(), inherited_.end(), fits);
  return found == inherited_.end() ? nullptr : &*found;
}

std::set<std::string> ListenSockets::endInheritance() {
  inherited_.clear();
  return std::exchange(taken_, {});
}

}  // namespace fairlead::worker
