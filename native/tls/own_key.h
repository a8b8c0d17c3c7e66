// Which keys certificates may have that this proxy shows as its own. Pure; any thread.
#pragma once

#include <openssl/x509.h>

#include "base/result.h"

namespace fairlead::tls {

// What the real server does not take, either: BoringSSL knows fewer kinds than OpenSSL.
Result<void> checkOwnKey(const X509* certificate);

}  // namespace fairlead::tls
