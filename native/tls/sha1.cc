#include "tls/sha1.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

namespace fairlead::tls {

bool isSha1Of(std::string_view text, std::string_view digest) {
  unsigned char made[SHA_DIGEST_LENGTH];
  SHA1(reinterpret_cast<const unsigned char*>(text.data()), text.size(), made);
  return digest.size() == sizeof(made) && CRYPTO_memcmp(digest.data(), made, sizeof(made)) == 0;
}

}  // namespace fairlead::tls
