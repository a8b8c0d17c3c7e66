// The PROXY protocol's header as it goes out. Pure.
// https://www.haproxy.org/download/2.9/doc/proxy-protocol.txt
#pragma once

#include <string>
#include <vector>

#include "net/proxied_client.h"
#include "plan/plan.gen.h"

namespace fairlead::net {

// A line of version 1. Without IP addresses on both ends: of a client that is not known.
std::string proxyHeaderV1(const Address& source, const Address& destination);

struct ProxyHeaderV2 {
  std::string bytes;
  // Some values were left out: a header has room for 65,535 bytes.
  bool lacks_values = false;
};
// `client`: null: the connection is this proxy's own. `formatted`: those of `plan.added_tlvs` that
// have a format, as they are in it; what is empty is left out.
ProxyHeaderV2 proxyHeaderV2(const ProxiedClient* client, const plan::ProxyProtocolSocket& plan,
                            const std::vector<std::string>& formatted = {});

}  // namespace fairlead::net
