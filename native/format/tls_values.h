// The names under which formats speak of TLS.
#pragma once

#include <optional>
#include <string_view>

#include "net/tls_info.h"

namespace fairlead::format {

// "TLS_VERSION", "PEER_SUBJECT", "LOCAL_DNS_SAN"; nothing: it is no such name.
std::optional<net::TlsValue> parseTlsValue(std::string_view name);

}  // namespace fairlead::format
