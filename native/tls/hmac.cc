#include "tls/hmac.h"

#include <openssl/crypto.h>
#include <openssl/hmac.h>

#include "tls/digests.h"

namespace fairlead::tls {

std::string digestOf(Digest digest, std::string_view text) {
  unsigned char made[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  if (EVP_Digest(text.data(), text.size(), made, &size, mdOf(digest), nullptr) != 1) return {};
  return {reinterpret_cast<const char*>(made), size};
}

std::string hmacOf(Digest digest, std::string_view secret, std::string_view text) {
  unsigned char made[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  // No secret may be nowhere.
  const char* const key = secret.empty() ? "" : secret.data();
  if (!HMAC(mdOf(digest), key, static_cast<int>(secret.size()),
            reinterpret_cast<const unsigned char*>(text.data()), text.size(), made, &size)) {
    return {};
  }
  return {reinterpret_cast<const char*>(made), size};
}

bool areSame(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace fairlead::tls
