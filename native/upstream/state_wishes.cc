#include "upstream/state_wishes.h"

#include <algorithm>
#include <string>

#include "base/text.h"
#include "net/shared_states.h"
#include "net/state_keys.h"

namespace fairlead::upstream {

namespace {

using Form = net::FilterState::Form;

// Both of them, the nearer one first.
struct States {
  const net::FilterState* of_request;
  const net::FilterState* of_connection;

  std::string_view find(Form form, std::string_view key) const {
    for (const net::FilterState* const state : {of_request, of_connection}) {
      const std::string* const found = state ? state->findAs(form, key) : nullptr;
      if (found) return *found;
    }
    return {};
  }
};

}  // namespace

void TlsWishes::tell(PoolUse* use) const {
  if (!server_name.empty()) use->server_name = server_name;
  if (!wanted_names.empty()) use->wanted_names = wanted_names;
  if (!protocols.empty()) use->protocols = protocols;
}

TlsWishes tlsWishesOf(const net::FilterState* of_connection, const net::FilterState* of_request) {
  if (!net::isStateForHosts()) return {};
  const States states{of_request, of_connection};
  // Kept as it is shown, which is by commas.
  static thread_local std::string names;
  names = states.find(Form::Untold, net::kSubjectNamesKey);
  std::replace(names.begin(), names.end(), ',', '\n');
  return {
      .server_name = states.find(Form::Untold, net::kServerNameKey),
      .wanted_names = names,
      .protocols = states.find(Form::Hidden, net::kProtocolsKey),
  };
}

HostByState hostByState(const net::FilterState* of_connection, const net::FilterState* of_request) {
  if (!net::isStateForHosts()) return {};
  const States states{of_request, of_connection};
  HostByState by_state{.host = states.find(Form::Quoted, net::kHostKey)};
  uint64_t port = 0;
  parseDecimal(states.find(Form::Bare, net::kPortKey), &port);
  if (port <= UINT16_MAX) by_state.port = static_cast<uint32_t>(port);
  return by_state;
}

}  // namespace fairlead::upstream
