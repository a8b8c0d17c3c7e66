// The listen sockets of all listeners, by worker: opened, or inherited from the process before this
// one. The control thread's; workers share the sockets.
//
// A socket that is inherited has an owner here in any case, since closing it would reset what waits
// in its queue: worker i takes the predecessor's socket i; those of workers that are no more are
// shared by all. Workers that are new open sockets of their own.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "net/listener.h"

namespace fairlead::worker {

// A socket of a listener, as one process hands it to the next.
struct PassedSocket {
  std::string listener;
  // Where it is bound: "127.0.0.1:10000", or a pipe's path.
  std::string address;
  // The plan left the port to the kernel: a successor's listener of the same name takes it.
  bool any_port = false;
  net::ListenSocket socket;
};

class ListenSockets {
 public:
  explicit ListenSockets(unsigned workers) : workers_(workers) {}

  using ByWorker = std::vector<std::vector<net::ListenSocket>>;
  // Of one of a listener's addresses.
  struct Bound {
    // Where they are bound, as text too: what the plan leaves open the kernel has chosen.
    net::Address address;
    std::string address_text;
    // As if it were the only address.
    plan::Listener plan;
    bool any_port = false;
    // Each worker has one of its own; those beyond are shared.
    bool one_each = false;
    // They are those that a listener of the name has already.
    bool are_shared = false;
    std::vector<net::ListenSocket> sockets;
    // What they were inherited as; empty: they were not.
    std::string inherited_as;
  };
  struct Open {
    std::string listener;
    // One at least, in the plan's order.
    std::vector<Bound> bound;

    // All of them are those of the listener of the name.
    bool areShared() const;
  };
  // Sockets for a listener: those that the one of its name has where they would be the same, or
  // those that were inherited, or closed a moment ago; what is missing is opened. Until they are
  // kept nothing has changed. `before`: in place of ports that the plan leaves open, by its
  // addresses; empty: the kernel chooses.
  Result<Open> open(const plan::Listener& plan, const std::vector<net::Address>& before = {}) const;
  // Connections come to them from here on, where they do to those that there are.
  Result<void> listen(const Open& open) const;
  // The listener has these from here on, and no others. Forgotten by close().
  ByWorker keep(Open open);
  // Connections come from here on, to what is open and to what will be: before there is anyone to
  // accept them they would be lost with a process that does not get so far. Errors by listener.
  std::map<std::string, Error> startListening();
  // Workers may hold them a little longer.
  void close(const std::string& listener);
  // Closes those at other addresses than these. Which are still open.
  enum class Left : uint8_t { All, Some, None };
  Left closeOthers(const std::string& listener, const std::set<std::string>& addresses);
  void closeAll() { open_.clear(); }
  // A listener's sockets again.
  ByWorker distribute(const std::string& listener) const;

  // ---- the predecessor's ----
  std::vector<PassedSocket> all() const;
  // ---- the successor's ----
  void inherit(PassedSocket socket);
  // Closes what no listener took. Returns the addresses of what was taken.
  std::set<std::string> endInheritance();

 private:
  struct Inherited {
    std::string listener;
    bool any_port;
    std::vector<net::ListenSocket> sockets;
  };
  // Closed here; a worker that has not heard of it has them still, and another socket could not be
  // bound to the same address meanwhile.
  struct Closing {
    plan::Listener plan;
    std::string address_text;
    std::vector<std::weak_ptr<const net::FileDescriptor>> sockets;
  };

  Result<void> bind(Bound* bound, const Open& others) const;
  // Null: nothing was inherited for it that `others` have not taken.
  const std::pair<const std::string, Inherited>* findInherited(const Bound& bound,
                                                               const Open& others) const;
  std::vector<net::ListenSocket> findClosing(const plan::Listener& plan,
                                             const std::string& address) const;
  // What there is already for it goes into `bound`.
  void findOpened(Bound* bound, const Open& others) const;
  // The same as that of the listener of the name; null: it has none such that is not taken.
  const Bound* findShared(const Bound& bound, const Open& others) const;
  void remember(Bound bound);
  ByWorker distribute(const Open& open) const;
  static Result<void> listenOn(const Bound& bound);
  // At once: workers hold the sockets until they run.
  static void refuse(const Open& open);

  const unsigned workers_;
  bool is_listening_ = false;
  // By listener.
  std::map<std::string, Open> open_;
  std::vector<Closing> closing_;
  // By address.
  std::map<std::string, Inherited> inherited_;
  std::set<std::string> taken_;
};

}  // namespace fairlead::worker
