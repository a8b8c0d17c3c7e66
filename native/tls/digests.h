// OpenSSL's digests by our names; of this folder alone.
#pragma once

#include <openssl/evp.h>

#include "tls/public_key.h"

namespace fairlead::tls {

inline const EVP_MD* mdOf(Digest digest) {
  switch (digest) {
    case Digest::Sha384:
      return EVP_sha384();
    case Digest::Sha512:
      return EVP_sha512();
    case Digest::Sha256:
      break;
  }
  return EVP_sha256();
}

}  // namespace fairlead::tls
