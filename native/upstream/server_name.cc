#include "upstream/server_name.h"

#include "net/address.h"

namespace fairlead::upstream {

std::string serverNameOf(std::string_view authority, const http::HeaderMap& headers,
                         const plan::Cluster& cluster) {
  std::string_view name = authority;
  if (!cluster.sni_header.empty()) {
    for (const http::HeaderEntry& entry : headers) {
      if (entry.name() != cluster.sni_header || entry.value_size == 0) continue;
      name = entry.value();
      break;
    }
  }
  // "[::1]:80" is no name either.
  if (name.starts_with('[')) return {};
  const size_t colon = name.rfind(':');
  if (colon != std::string_view::npos) name = name.substr(0, colon);
  net::Address address;
  return net::parseIp(name, &address) ? std::string() : std::string(name);
}

}  // namespace fairlead::upstream
