// Public keys, and what they say of signatures: what tokens are verified with. Immutable; any
// thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/result.h"

struct evp_pkey_st;

namespace fairlead::tls {

enum class Digest : uint8_t { Sha256, Sha384, Sha512 };

class PublicKey {
 public:
  enum class Scheme : uint8_t {
    // RSASSA-PKCS1-v1_5, RSASSA-PSS.
    Rsa,
    RsaPss,
    // The signature is r and s, of the same length each (RFC 7518 §3.4).
    Ecdsa,
    // Has a digest of its own.
    Ed25519,
  };

  // A SubjectPublicKeyInfo in DER.
  static Result<PublicKey> load(std::string_view der);

  // Also false where the key is of another kind than the scheme.
  bool verifies(Scheme scheme, Digest digest, std::string_view data,
                std::string_view signature) const;

 private:
  explicit PublicKey(std::shared_ptr<evp_pkey_st> key) : key_(std::move(key)) {}

  std::shared_ptr<evp_pkey_st> key_;
};

}  // namespace fairlead::tls
