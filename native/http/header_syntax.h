// What may stand in a field of a head (RFC 9110 §5): a token as its name, no control characters in
// its value. Pure; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "http/message.h"

namespace fairlead::http {

// A leading colon is that of a pseudo header.
bool isHeaderName(std::string_view name);
bool isHeaderValue(std::string_view value);

// Why no host may be sent such a head, which its route or filters have changed, as clients are
// told; nothing: it may.
std::optional<std::string> brokenHeader(std::string_view path, std::string_view authority,
                                        const HeaderMap& headers);
inline std::optional<std::string> brokenHeader(const RequestHead& head) {
  if (!isHeaderName(head.method)) return "invalid header value for: :method";
  return brokenHeader(head.path, head.authority, head.headers);
}

}  // namespace fairlead::http
