#include "net/listener_filter.h"

#include <algorithm>

namespace fairlead::net {

bool ListenerPredicate::matches(const plan::ListenerPredicate& rule, const AcceptedSocket& socket) {
  using Kind = plan::ListenerPredicate::Kind;
  const auto holds = [&](const plan::ListenerPredicate& inner) { return matches(inner, socket); };
  switch (rule.kind) {
    case Kind::Any:
      return true;
    case Kind::Not:
      return std::none_of(rule.rules.begin(), rule.rules.end(), holds);
    case Kind::And:
      return std::all_of(rule.rules.begin(), rule.rules.end(), holds);
    case Kind::Or:
      return std::any_of(rule.rules.begin(), rule.rules.end(), holds);
    case Kind::DestinationPort:
      return socket.local.isIp() && socket.local.port() >= rule.port_begin &&
             socket.local.port() < rule.port_end;
  }
  return false;
}

}  // namespace fairlead::net
