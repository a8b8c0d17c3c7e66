#include "tls/cipher.h"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <algorithm>
#include <memory>

#include "base/check.h"
#include "tls/hmac.h"
#include "tls/openssl.h"

namespace fairlead::tls {

namespace {

using CipherPtr = std::unique_ptr<EVP_CIPHER_CTX, FreeBy<EVP_CIPHER_CTX_free>>;

constexpr size_t kCbcStart = 16;
constexpr size_t kGcmStart = 12;
constexpr size_t kGcmTag = 16;
// Longer texts are none of ours: OpenSSL counts in ints.
constexpr size_t kMostSealed = size_t{1} << 24;

constexpr const char* kNotSealed = "Invalid encrypted data";

const EVP_CIPHER* cipherOf(Sealing sealing) {
  return sealing == Sealing::Cbc ? EVP_aes_256_cbc() : EVP_aes_256_gcm();
}

const unsigned char* inputOf(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* outputOf(std::string* text) {
  return reinterpret_cast<unsigned char*>(text->data());
}

}  // namespace

std::string randomBytes(size_t count) {
  std::string bytes(count, '\0');
  const bool is_made = RAND_bytes(outputOf(&bytes), static_cast<int>(count)) == 1;
  FL_CHECK(is_made);
  return bytes;
}

std::string seal(Sealing sealing, std::string_view secret, std::string_view text) {
  if (text.size() > kMostSealed) return {};
  const std::string key = digestOf(Digest::Sha256, secret);
  std::string sealed = randomBytes(sealing == Sealing::Cbc ? kCbcStart : kGcmStart);
  std::string made(text.size() + EVP_MAX_BLOCK_LENGTH, '\0');
  const CipherPtr context(EVP_CIPHER_CTX_new());
  int size = 0;
  int rest = 0;
  if (!context ||
      EVP_EncryptInit_ex(context.get(), cipherOf(sealing), nullptr, inputOf(key),
                         inputOf(sealed)) != 1 ||
      EVP_EncryptUpdate(context.get(), outputOf(&made), &size, inputOf(text),
                        static_cast<int>(text.size())) != 1 ||
      EVP_EncryptFinal_ex(context.get(), outputOf(&made) + size, &rest) != 1) {
    takeReason();
    return {};
  }
  sealed.append(made, 0, static_cast<size_t>(size + rest));
  if (sealing == Sealing::Cbc) return sealed;
  std::string tag(kGcmTag, '\0');
  if (EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, kGcmTag, tag.data()) != 1) {
    takeReason();
    return {};
  }
  return sealed + tag;
}

const char* unseal(Sealing sealing, std::string_view secret, std::string_view sealed,
                   std::string* text) {
  const size_t start = sealing == Sealing::Cbc ? kCbcStart : kGcmStart;
  const size_t tag_size = sealing == Sealing::Cbc ? 0 : kGcmTag;
  if (sealed.size() <= start + tag_size || sealed.size() > kMostSealed) return kNotSealed;
  const std::string key = digestOf(Digest::Sha256, secret);
  const std::string_view body = sealed.substr(start, sealed.size() - start - tag_size);
  std::string made(body.size() + EVP_MAX_BLOCK_LENGTH, '\0');
  const CipherPtr context(EVP_CIPHER_CTX_new());
  int size = 0;
  int rest = 0;
  const auto fail = [](const char* why) {
    takeReason();
    return why;
  };
  if (!context || EVP_DecryptInit_ex(context.get(), cipherOf(sealing), nullptr, inputOf(key),
                                     inputOf(sealed)) != 1) {
    return fail("failed to initialize decryption");
  }
  if (EVP_DecryptUpdate(context.get(), outputOf(&made), &size, inputOf(body),
                        static_cast<int>(body.size())) != 1) {
    return fail("failed to decrypt data");
  }
  std::string tag(sealed.substr(sealed.size() - tag_size));
  if (tag_size > 0 && EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG,
                                          static_cast<int>(tag_size), tag.data()) != 1) {
    return fail("failed to set decryption tag");
  }
  if (EVP_DecryptFinal_ex(context.get(), outputOf(&made) + size, &rest) != 1) {
    return fail("failed to finalize decryption");
  }
  text->assign(made, 0, static_cast<size_t>(size + rest));
  return nullptr;
}

}  // namespace fairlead::tls
