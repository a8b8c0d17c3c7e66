#include "upstream/server_name.h"

#include <string>
#include <utility>

#include "net/address.h"

namespace fairlead::upstream {

namespace {

bool isIp(std::string_view name) {
  net::Address address;
  return net::parseIp(name, &address);
}

// Empty: there is none.
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
  if (name.starts_with('[')) {
    name = name.substr(1, name.find(']') - 1);
  } else {
    name = name.substr(0, name.rfind(':'));
  }
  if (isIp(name) && !cluster.auto_san_validation) return {};
  return std::string(name);
}

}  // namespace

void useServerName(std::string_view authority, const http::HeaderMap& headers,
                   const plan::Cluster& cluster, PoolUse* use) {
  std::string name = serverNameOf(authority, headers, cluster);
  if (cluster.auto_san_validation) use->wanted_names = name;
  if (!isIp(name)) use->server_name = std::move(name);
}

}  // namespace fairlead::upstream
