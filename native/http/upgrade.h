// Requests that ask for another protocol on their connection (RFC 9110 §7.8), and answers that
// grant it. Codecs of HTTP/2 give and take extended CONNECT (RFC 8441) as such requests. Pure.
#pragma once

#include "base/text.h"
#include "http/message.h"

namespace fairlead::http {

// The name of the protocol; null: there is none.
inline const HeaderEntry* findUpgrade(const HeaderMap& headers) {
  const HeaderEntry* const upgrade = headers.find(HeaderId::Upgrade);
  if (!upgrade) return nullptr;
  const HeaderEntry* const connection = headers.find(HeaderId::Connection);
  return connection && containsToken(connection->value(), "upgrade") ? upgrade : nullptr;
}

// HTTP/2 is spoken by prior knowledge or ALPN, and to be asked for it means nothing.
inline bool isHttp2Upgrade(const HeaderEntry& upgrade) {
  return equalsIgnoreCase(upgrade.value(), "h2c");
}

}  // namespace fairlead::http
