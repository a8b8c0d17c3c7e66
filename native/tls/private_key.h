// Private keys, and signatures by them as tokens have them (RFC 7518 §3). Immutable; any thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tls/public_key.h"

namespace fairlead::tls {

class PrivateKey {
 public:
  // A key in PEM, without a passphrase.
  static Result<PrivateKey> load(std::string_view pem);

  // Of the curve P-256: the number that is the key, of 32 bytes.
  static Result<PrivateKey> ofP256(std::string_view number);

  bool isRsa() const;
  bool isEc() const;
  // Of RSA: RSASSA-PKCS1-v1_5. Of EC: r and s, of the curve's length each. Empty: it cannot be.
  std::string sign(Digest digest, std::string_view text) const;
  // Of EC, as others have it: r and s in DER.
  std::string signInDer(Digest digest, std::string_view text) const;

 private:
  explicit PrivateKey(std::shared_ptr<evp_pkey_st> key) : key_(std::move(key)) {}

  std::shared_ptr<evp_pkey_st> key_;
};

}  // namespace fairlead::tls
