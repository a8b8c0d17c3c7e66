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

  bool isRsa() const;
  bool isEc() const;
  // Of RSA: RSASSA-PKCS1-v1_5. Of EC: r and s, of the curve's length each. Empty: it cannot be.
  std::string sign(Digest digest, std::string_view text) const;

 private:
  explicit PrivateKey(std::shared_ptr<evp_pkey_st> key) : key_(std::move(key)) {}

  std::shared_ptr<evp_pkey_st> key_;
};

}  // namespace fairlead::tls
