#include "filters/jwt/key_set.h"

#include <utility>

#include "tls/hmac.h"

namespace fairlead::filters {

namespace {

using JwkKind = plan::Jwk::Kind;

constexpr size_t kEd25519SignatureBytes = 64;

tls::Digest digestOf(std::string_view alg) {
  if (alg.ends_with("384")) return tls::Digest::Sha384;
  if (alg.ends_with("512")) return tls::Digest::Sha512;
  return tls::Digest::Sha256;
}

}  // namespace

Result<std::shared_ptr<const JwtKeySet>> JwtKeySet::build(const plan::Jwks& plan) {
  auto set = std::make_shared<JwtKeySet>();
  for (const plan::Jwk& jwk : plan.keys) {
    Key key{jwk, std::nullopt};
    if (jwk.kind != JwkKind::Octets) {
      Result<tls::PublicKey> loaded = tls::PublicKey::load(jwk.key);
      if (!loaded) return loaded.error();
      key.key = std::move(loaded.value());
    }
    set->keys_.push_back(std::move(key));
  }
  return std::shared_ptr<const JwtKeySet>(std::move(set));
}

JwtStatus JwtKeySet::verify(const JwtToken& token) const {
  bool has_candidate = false;
  for (const Key& key : keys_) {
    if (!token.kid.empty() && !key.plan.kid.empty() && key.plan.kid != token.kid) continue;
    if (!key.plan.alg.empty() && key.plan.alg != token.alg) continue;
    has_candidate = true;
    if (key.plan.kind == JwkKind::Ed25519 && token.signature.size() != kEd25519SignatureBytes) {
      return JwtStatus::Ed25519WrongLength;
    }
    if (verifies(key, token)) return JwtStatus::Ok;
  }
  return has_candidate ? JwtStatus::VerificationFails : JwtStatus::KidAlgMismatch;
}

bool JwtKeySet::verifies(const Key& key, const JwtToken& token) {
  using Scheme = tls::PublicKey::Scheme;
  const tls::Digest digest = digestOf(token.alg);
  const std::string_view family = token.alg.substr(0, 2);
  const auto checks = [&](Scheme scheme) {
    return key.key->verifies(scheme, digest, token.signed_text, token.signature);
  };
  switch (key.plan.kind) {
    case JwkKind::Rsa:
      if (family == "RS") return checks(Scheme::Rsa);
      return family == "PS" && checks(Scheme::RsaPss);
    case JwkKind::Ec:
      return family == "ES" && checks(Scheme::Ecdsa);
    case JwkKind::Ed25519:
      return token.alg == "EdDSA" && checks(Scheme::Ed25519);
    case JwkKind::Octets:
      return family == "HS" &&
             tls::areSame(tls::hmacOf(digest, key.plan.key, token.signed_text), token.signature);
  }
  return false;
}

}  // namespace fairlead::filters
