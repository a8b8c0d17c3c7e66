#include "proxy/strict_check.h"

#include "base/text.h"
#include "route/retry_policy.h"

namespace fairlead::proxy {

using http::HeaderEntry;
using http::HeaderId;

namespace {

bool makesSense(HeaderId id, std::string_view value) {
  uint64_t number = 0;
  uint32_t set = 0;
  if (id == HeaderId::XEnvoyRetryOn) return route::readRetryOn(value, &set);
  if (id == HeaderId::XEnvoyRetryGrpcOn) return route::readRetryGrpcOn(value, &set);
  return parseSpokenNumber(value, &number);
}

}  // namespace

const HeaderEntry* findSenseless(const http::HeaderMap& headers,
                                 const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    const HeaderEntry* entry = headers.find(std::string_view(name));
    if (entry && !makesSense(entry->id, entry->value())) return entry;
  }
  return nullptr;
}

}  // namespace fairlead::proxy
