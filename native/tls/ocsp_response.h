// An OCSP response that goes with a certificate: what its issuer says of it. Immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "tls/openssl.h"

namespace fairlead::tls {

class OcspResponse {
 public:
  // The error says why `der` is no response for the certificate, in the real server's words.
  static Result<std::unique_ptr<const OcspResponse>> read(const std::string& der,
                                                          const X509* certificate);

  const std::string& der() const { return der_; }
  // One that does not say how long it is good is good no longer.
  bool isExpired(int64_t now_s) const { return !next_update_s_ || *next_update_s_ < now_s; }

 private:
  OcspResponse(std::string der, std::optional<int64_t> next_update_s)
      : der_(std::move(der)), next_update_s_(next_update_s) {}

  const std::string der_;
  const std::optional<int64_t> next_update_s_;
};

// It says itself that it is only good together with a response.
bool mustStaple(const X509* certificate);

}  // namespace fairlead::tls
