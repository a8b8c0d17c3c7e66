// The keys of an issuer (RFC 7517), and what they say of a token. Immutable; any thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "filters/jwt/token.h"
#include "plan/plan.gen.h"
#include "tls/public_key.h"

namespace fairlead::filters {

class JwtKeySet {
 public:
  static Result<std::shared_ptr<const JwtKeySet>> build(const plan::Jwks& plan);

  // Ok, VerificationFails, KidAlgMismatch or Ed25519WrongLength. A key is only ever used with the
  // algorithms of its kind, whatever the token says.
  JwtStatus verify(const JwtToken& token) const;

 private:
  struct Key {
    plan::Jwk plan;
    // Of those that are no secret.
    std::optional<tls::PublicKey> key;
  };

  static bool verifies(const Key& key, const JwtToken& token);

  std::vector<Key> keys_;
};

}  // namespace fairlead::filters
