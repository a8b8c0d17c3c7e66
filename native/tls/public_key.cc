#include "tls/public_key.h"

#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/rsa.h>

#include "tls/digests.h"
#include "tls/openssl.h"

namespace fairlead::tls {

namespace {

using DigestContextPtr = std::unique_ptr<EVP_MD_CTX, FreeBy<EVP_MD_CTX_free>>;
using EcSignaturePtr = std::unique_ptr<ECDSA_SIG, FreeBy<ECDSA_SIG_free>>;

const unsigned char* bytesOf(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

// As OpenSSL wants it; empty: it is none.
std::string derOf(std::string_view signature) {
  const size_t half = signature.size() / 2;
  if (half == 0 || signature.size() % 2 != 0) return {};
  EcSignaturePtr pair(ECDSA_SIG_new());
  BIGNUM* const r = BN_bin2bn(bytesOf(signature), static_cast<int>(half), nullptr);
  BIGNUM* const s = BN_bin2bn(bytesOf(signature) + half, static_cast<int>(half), nullptr);
  if (!pair || !r || !s || ECDSA_SIG_set0(pair.get(), r, s) != 1) {
    BN_free(r);
    BN_free(s);
    return {};
  }
  const int size = i2d_ECDSA_SIG(pair.get(), nullptr);
  if (size <= 0) return {};
  std::string der(static_cast<size_t>(size), '\0');
  unsigned char* to = reinterpret_cast<unsigned char*>(der.data());
  i2d_ECDSA_SIG(pair.get(), &to);
  return der;
}

int kindOf(PublicKey::Scheme scheme) {
  switch (scheme) {
    case PublicKey::Scheme::Rsa:
    case PublicKey::Scheme::RsaPss:
      return EVP_PKEY_RSA;
    case PublicKey::Scheme::Ecdsa:
      return EVP_PKEY_EC;
    case PublicKey::Scheme::Ed25519:
      return EVP_PKEY_ED25519;
  }
  return EVP_PKEY_NONE;
}

}  // namespace

Result<PublicKey> PublicKey::load(std::string_view der) {
  const unsigned char* at = bytesOf(der);
  KeyPtr key(d2i_PUBKEY(nullptr, &at, static_cast<long>(der.size())));
  if (!key) return Error{"a public key cannot be read: " + takeReason()};
  return PublicKey(std::shared_ptr<evp_pkey_st>(key.release(), EVP_PKEY_free));
}

bool PublicKey::verifies(Scheme scheme, Digest digest, std::string_view data,
                         std::string_view signature) const {
  if (EVP_PKEY_base_id(key_.get()) != kindOf(scheme)) return false;
  std::string der;
  if (scheme == Scheme::Ecdsa) {
    der = derOf(signature);
    if (der.empty()) return false;
    signature = der;
  }
  const DigestContextPtr context(EVP_MD_CTX_new());
  EVP_PKEY_CTX* settings = nullptr;
  const EVP_MD* const md = scheme == Scheme::Ed25519 ? nullptr : mdOf(digest);
  bool is_good =
      context && EVP_DigestVerifyInit(context.get(), &settings, md, nullptr, key_.get()) == 1;
  if (is_good && scheme == Scheme::RsaPss) {
    is_good = EVP_PKEY_CTX_set_rsa_padding(settings, RSA_PKCS1_PSS_PADDING) == 1 &&
              EVP_PKEY_CTX_set_rsa_mgf1_md(settings, md) == 1;
  }
  is_good = is_good && EVP_DigestVerify(context.get(), bytesOf(signature), signature.size(),
                                        bytesOf(data), data.size()) == 1;
  ERR_clear_error();
  return is_good;
}

}  // namespace fairlead::tls
