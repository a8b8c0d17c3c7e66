// Whom a connection to a host is made for, as the PROXY protocol tells it. A value.
#pragma once

#include <memory>
#include <string>

#include "net/address.h"

namespace fairlead::net {

struct ProxiedClient {
  Address source;
  Address destination;
  // Type-length-values that a proxy before us has sent, those that may be passed on, as they came.
  std::string tlvs = {};

  // The same text for the same client, where it came to the same address with the same values.
  std::string key() const;
};

using SharedProxiedClient = std::shared_ptr<const ProxiedClient>;

}  // namespace fairlead::net
