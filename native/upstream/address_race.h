// A connection to a host that has several addresses (RFC 8305, Happy Eyeballs): they are tried in
// their order, the next one when the one before has failed or has not answered for a while. The
// first that answers is the connection's socket; the others are closed. Beneath one connection,
// before its transport; its worker's thread.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "net/connection.h"
#include "net/loop.h"
#include "net/original_source.h"
#include "net/wrapping_transport.h"
#include "plan/plan.gen.h"
#include "upstream/connect.h"

namespace fairlead::upstream {

class AddressRace final : public net::WrappingTransport, private net::Timer, private net::Deferred {
 public:
  // Begins with the first address that the system does not refuse at once: `fd` is its socket.
  // Null: it refuses all, and `error` is its errno of the last. `settings` outlive the race.
  static std::unique_ptr<AddressRace> begin(const std::vector<plan::Address>& addresses,
                                            const plan::Cluster& settings, const ConnectionUse& use,
                                            net::FileDescriptor* fd, int* error);
  ~AddressRace() override;

  // What is spoken once it is over; null: nothing. Before it is attached.
  void wrap(std::unique_ptr<net::Transport> inner) { setInner(std::move(inner)); }

  void attach(net::Connection& connection) override;
  uint32_t onEvents(uint32_t events) override;
  Handshake handshake(int fd) override {
    return inner() ? inner()->handshake(fd) : Handshake::Done;
  }

 private:
  // One address beside the connection's own socket.
  class Try;

  AddressRace(std::vector<net::Address> addresses, size_t next, const plan::Cluster& settings,
              const ConnectionUse& use);

  void onTimer() override { startNext(); }
  // Gives the connection the socket that has answered, when nothing of this turn speaks of another.
  void onDeferred() override;
  // False: there is none left.
  bool startNext();
  void onTried(Try& one, bool has_failed);
  void settle(net::FileDescriptor winner);
  void buryTries();
  static void countFurther(stats::Shard<stats::Cluster>* stats, HostCounters* host,
                           size_t addresses);

  std::vector<net::Address> addresses_;
  size_t next_;
  const plan::Cluster& settings_;
  std::optional<net::OriginalSource> from_;
  stats::Shard<stats::Cluster>* stats_;
  HostCounters* host_counters_;
  std::vector<std::unique_ptr<Try>> tries_;
  net::FileDescriptor winner_;
  // The connection's own socket is out of the race.
  bool has_own_failed_ = false;
  bool is_over_ = false;
};

}  // namespace fairlead::upstream
