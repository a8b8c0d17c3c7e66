#include "upstream/state_wishes.h"

#include <algorithm>

#include "base/text.h"
#include "net/shared_states.h"
#include "net/state_keys.h"
#include "upstream/name_cache.h"

namespace fairlead::upstream {

namespace {

using Form = net::FilterState::Form;

// Of both of them.
struct States {
  const net::FilterState* of_request;
  const net::FilterState* of_connection;

  std::string_view find(Form form, std::string_view key) const {
    const std::string* const found = net::findAs(form, key, of_request, of_connection);
    return found ? *found : std::string_view();
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

std::string HostByState::nameOr(std::string_view asked_host, uint32_t default_port) const {
  return nameWithPort(host.empty() ? asked_host : host, port == 0 ? default_port : port);
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
