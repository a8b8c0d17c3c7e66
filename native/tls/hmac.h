// Digests of texts, with a secret or without. Any thread.
#pragma once

#include <string>
#include <string_view>

#include "tls/public_key.h"

namespace fairlead::tls {

// The bytes themselves.
std::string digestOf(Digest digest, std::string_view text);
std::string hmacOf(Digest digest, std::string_view secret, std::string_view text);
// Takes as long whether they are or not.
bool areSame(std::string_view a, std::string_view b);

}  // namespace fairlead::tls
