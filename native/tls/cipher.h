// Texts that nobody reads without the secret: AES-256 (FIPS 197), with the secret's SHA-256 for a
// key. What is sealed begins with what chance made of it. Any thread.
#pragma once

#include <string>
#include <string_view>

namespace fairlead::tls {

enum class Sealing : unsigned char {
  // CBC with PKCS #7: it is not seen that somebody has changed it.
  Cbc,
  // GCM: a nonce of 12 bytes before it, a tag of 16 behind it.
  Gcm,
};

std::string seal(Sealing sealing, std::string_view secret, std::string_view text);

// Null: `text` is what was sealed. Otherwise why it is not known, in the real server's words.
const char* unseal(Sealing sealing, std::string_view secret, std::string_view sealed,
                   std::string* text);

// Nobody can guess them.
std::string randomBytes(size_t count);

}  // namespace fairlead::tls
