// Certificates made by the test itself: an authority, and whom it has signed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tls/openssl.h"

namespace fairlead::test {

struct Identity {
  // In PEM.
  std::string certificate;
  std::string key;
};

class Authority {
 public:
  explicit Authority(const std::string& name = "test-ca");

  const std::string& pem() const { return own_.certificate; }
  // `names`: "DNS:a.test,URI:spiffe://a"; empty: none. `is_rsa`: a key of that kind, else ECDSA.
  // `usage`: what the key is for, "digitalSignature"; empty: it does not say.
  Identity sign(const std::string& common_name, const std::string& names = {}, bool is_rsa = false,
                long days = 10, bool must_staple = false, const std::string& usage = {}) const;
  // An OCSP response in DER. `good_for_s`: from now on; none: it does not say.
  std::string vouchFor(const Identity& identity, std::optional<long> good_for_s) const;

 private:
  Identity own_;
  tls::X509Ptr certificate_;
  tls::KeyPtr key_;
};

// One that every test may take; never destroyed.
inline const Authority& authority() {
  static const Authority& own = *new Authority;
  return own;
}

}  // namespace fairlead::test
