#include "proxy/strict_check.h"

#include "base/text.h"

namespace fairlead::proxy {

using http::HeaderEntry;
using http::HeaderId;

namespace {

constexpr std::string_view kRetryConditions[] = {"5xx",
                                                 "gateway-error",
                                                 "reset",
                                                 "reset-before-request",
                                                 "connect-failure",
                                                 "envoy-ratelimited",
                                                 "retriable-4xx",
                                                 "refused-stream",
                                                 "retriable-status-codes",
                                                 "retriable-headers",
                                                 "http3-post-connect-failure"};
constexpr std::string_view kGrpcRetryConditions[] = {"cancelled", "deadline-exceeded", "internal",
                                                     "resource-exhausted", "unavailable"};

template <size_t N>
bool areKnown(std::string_view list, const std::string_view (&known)[N]) {
  bool all = true;
  forEachToken(list, [&](std::string_view token) {
    bool found = false;
    for (const std::string_view name : known) found |= name == token;
    all &= found;
    return all;
  });
  return all;
}

bool makesSense(HeaderId id, std::string_view value) {
  uint64_t number = 0;
  if (id == HeaderId::XEnvoyRetryOn) return areKnown(value, kRetryConditions);
  if (id == HeaderId::XEnvoyRetryGrpcOn) return areKnown(value, kGrpcRetryConditions);
  return parseDecimal(value, &number);
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
