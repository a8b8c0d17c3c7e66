// What filters have said in the filter state of how hosts are asked for over TLS, and of which host
// it is to be. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "net/filter_state.h"
#include "upstream/pool_use.h"

namespace fairlead::upstream {

// Empty: nothing is said. Good until the filter state changes, or this thread asks again.
struct TlsWishes {
  std::string_view server_name = {};
  // By line ends.
  std::string_view wanted_names = {};
  // Each with its length before it.
  std::string_view protocols = {};

  // They go before what the use says.
  void tell(PoolUse* use) const;
};

struct HostByState {
  // May have a port of its own; empty: nothing is said.
  std::string_view host = {};
  // 0: nothing is said.
  uint32_t port = 0;

  // With its port: these, or else what is asked for where nothing is said.
  std::string nameOr(std::string_view asked_host, uint32_t default_port) const;
};

// `of_request` goes before `of_connection`; null: there is none.
TlsWishes tlsWishesOf(const net::FilterState* of_connection,
                      const net::FilterState* of_request = nullptr);
HostByState hostByState(const net::FilterState* of_connection,
                        const net::FilterState* of_request = nullptr);

}  // namespace fairlead::upstream
