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
  return plan.address && plan.address->port == 0 && plan.address->pipe.empty();
}

bool isSame(int one, int other) {
  struct stat first;
  struct stat second;
  return ::fstat(one, &first) == 0 && ::fstat(other, &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

net::ListenSocket share(net::FileDescriptor socket) {
  return std::make_shared<const net::FileDescriptor>(std::move(socket));
}

}  // namespace

Result<ListenSockets::Group> ListenSockets::open(const plan::Listener& plan) {
  net::Address address = net::Address::fromPlan(plan.address.value_or(plan::Address()));
  Open open;
  open.any_port = isAnyPort(plan);
  open.sockets = takeInherited(plan, address);
  for (const net::ListenSocket& socket : open.sockets) net::adoptListenSocket(socket->get(), plan);
  if (!open.sockets.empty()) address = net::boundAddress(open.sockets.front()->get());
  open.one_each = plan.reuse_port && address.isIp() &&
                  (open.sockets.empty() || sharesPort(open.sockets.front()->get()));
  const size_t wanted = plan.unbound ? 0 : open.one_each ? workers_ : 1;
  while (open.sockets.size() < wanted) {
    Result<net::FileDescriptor> socket = net::openListenSocket(plan, address);
    if (!socket) return socket.error();
    // The kernel's port for all, when the plan left it open.
    if (open.sockets.empty() && address.isIp()) address = net::boundAddress(socket.value().get());
    open.sockets.push_back(share(std::move(socket.value())));
  }
  open.address = address.text();
  open.plan = plan;
  if (is_listening_) {
    if (const auto listening = listenOn(open); !listening) return listening.error();
  }
  Group group{std::move(address), distribute(open)};
  open_[plan.name] = std::move(open);
  return group;
}

// Inherited ones get the plan's length of the queue, whatever the predecessor's was.
Result<void> ListenSockets::listenOn(const Open& open) {
  if (open.sockets.empty()) return {};
  const net::Address address = net::boundAddress(open.sockets.front()->get());
  for (const net::ListenSocket& socket : open.sockets) {
    if (const auto done = net::listenOn(socket->get(), open.plan, address); !done) return done;
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
  return found == open_.end() ? std::string() : found->second.address;
}

std::vector<PassedSocket> ListenSockets::all() const {
  std::vector<PassedSocket> result;
  for (const auto& [listener, open] : open_) {
    for (const net::ListenSocket& socket : open.sockets) {
      result.push_back({listener, open.address, open.any_port, socket});
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

std::vector<net::ListenSocket> ListenSockets::takeInherited(const plan::Listener& plan,
                                                            const net::Address& address) {
  if (plan.unbound) return {};
  const auto fits = [&](const auto& entry) {
    const auto& [text, inherited] = entry;
    if (!isAnyPort(plan)) return text == address.text();
    net::Address bound = net::boundAddress(inherited.sockets.front()->get());
    return inherited.any_port && inherited.listener == plan.name && bound.sameIp(address);
  };
  const auto found = std::find_if(inherited_.begin(), inherited_.end(), fits);
  if (found == inherited_.end()) return {};
  taken_.insert(found->first);
  std::vector<net::ListenSocket> sockets = std::move(found->second.sockets);
  inherited_.erase(found);
  return sockets;
}

std::set<std::string> ListenSockets::endInheritance() {
  inherited_.clear();
  return std::exchange(taken_, {});
}

}  // namespace fairlead::worker
