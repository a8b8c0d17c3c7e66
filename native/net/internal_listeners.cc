#include "net/internal_listeners.h"

namespace fairlead::net {

const Address& InternalListeners::clientAddress() {
  // Never destroyed: workers may outlive static objects.
  static const auto* const address = new Address(Address::internal("internal_client_address", ""));
  return *address;
}

}  // namespace fairlead::net
