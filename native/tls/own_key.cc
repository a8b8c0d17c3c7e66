#include "tls/own_key.h"

#include <openssl/evp.h>
#include <openssl/x509v3.h>

#include <string_view>

namespace fairlead::tls {

namespace {

constexpr int kLeastRsaBits = 2048;
constexpr size_t kMostCurveName = 32;

bool isKnownCurve(const EVP_PKEY* key) {
  char name[kMostCurveName];
  size_t size = 0;
  if (EVP_PKEY_get_group_name(key, name, sizeof(name), &size) != 1) return false;
  const std::string_view curve(name, size);
  return curve == "prime256v1" || curve == "secp384r1" || curve == "secp521r1";
}

}  // namespace

Result<void> checkOwnKey(const X509* certificate) {
  const EVP_PKEY* const key = X509_get0_pubkey(certificate);
  const int kind = key ? EVP_PKEY_get_base_id(key) : EVP_PKEY_NONE;
  const bool is_ec = kind == EVP_PKEY_EC;
  if (is_ec ? !isKnownCurve(key) : kind != EVP_PKEY_RSA && kind != EVP_PKEY_ED25519) {
    return Error{
        "Failed to load certificate chain: keys are of RSA, P-256, P-384, P-521 or Ed25519"};
  }
  if (kind == EVP_PKEY_RSA && EVP_PKEY_get_bits(key) < kLeastRsaBits) {
    return Error{"only RSA certificates with 2048-bit or larger keys are supported"};
  }
  // UINT32_MAX: it says nothing of that.
  const uint32_t usage = X509_get_key_usage(const_cast<X509*>(certificate));
  if (is_ec && (usage & KU_DIGITAL_SIGNATURE) == 0) {
    return Error{"the key usage of an ECDSA certificate must allow digital signatures"};
  }
  return {};
}

}  // namespace fairlead::tls
