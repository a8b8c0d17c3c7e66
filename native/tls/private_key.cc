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

Result<PrivateKey> PrivateKey::ofP256(std::string_view number) {
  // ECPrivateKey (RFC 5915) within PrivateKeyInfo: what OpenSSL makes the rest of the key from.
  static constexpr unsigned char kBefore[] = {0x30, 0x41, 0x02, 0x01, 0x00, 0x30, 0x13, 0x06, 0x07,
                                              0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08,
                                              0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x04,
                                              0x27, 0x30, 0x25, 0x02, 0x01, 0x01, 0x04, 0x20};
  constexpr size_t kBytes = 32;
  if (number.size() != kBytes) return Error{"a key of P-256 has 32 bytes"};
  std::string der(reinterpret_cast<const char*>(kBefore), sizeof(kBefore));
  der.append(number);
  const auto* at = reinterpret_cast<const unsigned char*>(der.data());
  KeyPtr key(d2i_AutoPrivateKey(nullptr, &at, static_cast<long>(der.size())));
  if (!key) return Error{takeReason()};
  return PrivateKey(std::shared_ptr<evp_pkey_st>(std::move(key)));
}

bool PrivateKey::isRsa() const { return EVP_PKEY_base_id(key_.get()) == EVP_PKEY_RSA; }
bool PrivateKey::isEc() const { return EVP_PKEY_base_id(key_.get()) == EVP_PKEY_EC; }

std::string PrivateKey::sign(Digest digest, std::string_view text) const {
  std::string signature = signInDer(digest, text);
  if (signature.empty() || !isEc()) return signature;
  return pairOf(signature, EVP_PKEY_bits(key_.get()));
}

std::string PrivateKey::signInDer(Digest digest, std::string_view text) const {
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
  return signature;
}

}  // namespace fairlead::tls
