#include "tls/private_key.h"

#include <openssl/ec.h>
#include <openssl/ecdsa.h>

#include "tls/digests.h"
#include "tls/openssl.h"

namespace fairlead::tls {

namespace {

using SignerPtr = std::unique_ptr<EVP_MD_CTX, FreeBy<EVP_MD_CTX_free>>;
using MadeSignaturePtr = std::unique_ptr<ECDSA_SIG, FreeBy<ECDSA_SIG_free>>;

// Nobody is asked for a passphrase.
int noPassphrase(char*, int, int, void*) { return 0; }

// OpenSSL's DER as r and s.
std::string pairOf(const std::string& der, int bits) {
  const auto* at = reinterpret_cast<const unsigned char*>(der.data());
  const MadeSignaturePtr made(d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(der.size())));
  const int half = (bits + 7) / 8;
  std::string pair(static_cast<size_t>(half) * 2, '\0');
  auto* const to = reinterpret_cast<unsigned char*>(pair.data());
  if (!made || BN_bn2binpad(ECDSA_SIG_get0_r(made.get()), to, half) != half ||
      BN_bn2binpad(ECDSA_SIG_get0_s(made.get()), to + half, half) != half) {
    takeReason();
    return {};
  }
  return pair;
}

}  // namespace

Result<PrivateKey> PrivateKey::load(std::string_view pem) {
  const BioPtr reader = readerOf(pem);
  KeyPtr key(PEM_read_bio_PrivateKey(reader.get(), nullptr, noPassphrase, nullptr));
  if (!key) return Error{takeReason()};
  return PrivateKey(std::shared_ptr<evp_pkey_st>(std::move(key)));
}

bool PrivateKey::isRsa() const { return EVP_PKEY_base_id(key_.get()) == EVP_PKEY_RSA; }
bool PrivateKey::isEc() const { return EVP_PKEY_base_id(key_.get()) == EVP_PKEY_EC; }

std::string PrivateKey::sign(Digest digest, std::string_view text) const {
  const SignerPtr signer(EVP_MD_CTX_new());
  const auto* const bytes = reinterpret_cast<const unsigned char*>(text.data());
  size_t size = 0;
  if (!signer ||
      EVP_DigestSignInit(signer.get(), nullptr, mdOf(digest), nullptr, key_.get()) != 1 ||
      EVP_DigestSign(signer.get(), nullptr, &size, bytes, text.size()) != 1) {
    takeReason();
    return {};
  }
  std::string signature(size, '\0');
  if (EVP_DigestSign(signer.get(), reinterpret_cast<unsigned char*>(signature.data()), &size, bytes,
                     text.size()) != 1) {
    takeReason();
    return {};
  }
  signature.resize(size);
  return isEc() ? pairOf(signature, EVP_PKEY_bits(key_.get())) : signature;
}

}  // namespace fairlead::tls
