// Which filter chain takes a connection: by the addresses it came from and went to.
// Immutable; shared by all workers.
#pragma once

#include <cstdint>
#include <vector>

#include "net/address.h"
#include "plan/plan.gen.h"

namespace fairlead::net {

// The order of criteria is the real server's: destination port, destination address, (server name,
// transport and application protocol: only known behind a TLS inspector), direct source, source
// type, source address, source port. At each step the most specific fit wins, and there is no way
// back: a chain that loses at a later step does not give an earlier loser another chance.
class FilterChainMatch {
 public:
  static constexpr int kNone = -1;

  FilterChainMatch() = default;
  explicit FilterChainMatch(const std::vector<plan::FilterChain>& chains);

  // The index of the chain; kNone when there is none.
  int find(const Address& local, const Address& direct_remote, const Address& remote) const;

 private:
  // What is known of a connection before its first byte.
  struct Facts {
    const Address& local;
    const Address& direct_remote;
    const Address& remote;
  };
  struct Entry {
    // How well the connection fits at that step: -1 not at all, 0 for "any", more the more
    // specific.
    int fit(int step, const Facts& facts) const;
    unsigned criteria() const;

    int chain;
    plan::FilterChainMatch match;
    std::vector<Cidr> destination;
    std::vector<Cidr> direct_source;
    std::vector<Cidr> source;
    // Bits: at which steps it has criteria.
    unsigned steps;
  };

  std::vector<Entry> entries_;
  int default_chain_ = kNone;
  bool trivial_ = false;
};

}  // namespace fairlead::net
