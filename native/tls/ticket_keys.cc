#include "tls/ticket_keys.h"

#include <openssl/core_names.h>
#include <openssl/rand.h>

#include <cstring>
#include <utility>

namespace fairlead::tls {

namespace {

// Where a context keeps its keys.
int ticketKeysIndex() {
  static const int index = SSL_CTX_get_ex_new_index(0, nullptr, nullptr, nullptr, nullptr);
  return index;
}

bool setMac(EVP_MAC_CTX* mac, const unsigned char* key, size_t size) {
  char digest[] = "SHA256";
  const OSSL_PARAM parameters[] = {
      OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, const_cast<unsigned char*>(key), size),
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
      OSSL_PARAM_construct_end()};
  return EVP_MAC_CTX_set_params(mac, parameters) == 1;
}

}  // namespace

TicketKeys::TicketKeys(const std::vector<std::string>& keys) {
  for (const std::string& bytes : keys) {
    static_assert(sizeof(Key) == kBytes);
    Key key;
    std::memcpy(&key, bytes.data(), sizeof(key));
    keys_.push_back(key);
    OPENSSL_cleanse(&key, sizeof(key));
  }
}

TicketKeys::~TicketKeys() {
  if (!keys_.empty()) OPENSSL_cleanse(keys_.data(), keys_.size() * sizeof(Key));
}

TicketKeys& TicketKeys::operator=(TicketKeys&& other) noexcept {
  std::swap(keys_, other.keys_);
  return *this;
}

void TicketKeys::use(SSL_CTX* context) const {
  SSL_CTX_set_ex_data(context, ticketKeysIndex(), const_cast<TicketKeys*>(this));
  SSL_CTX_set_tlsext_ticket_key_evp_cb(context, onTicket);
}

int TicketKeys::onTicket(SSL* ssl, unsigned char* name, unsigned char* iv, EVP_CIPHER_CTX* cipher,
                         EVP_MAC_CTX* mac, int encrypts) {
  const auto* keys =
      static_cast<const TicketKeys*>(SSL_CTX_get_ex_data(SSL_get_SSL_CTX(ssl), ticketKeysIndex()));
  if (!keys) return -1;
  if (encrypts) return keys->begin(name, iv, cipher, mac);
  const int opened = keys->open(name, iv, cipher, mac);
  // 2: the client gets another one. Those of TLS 1.3 are for one use (RFC 8446, C.4).
  return opened == 1 && SSL_version(ssl) >= TLS1_3_VERSION ? 2 : opened;
}

int TicketKeys::begin(unsigned char* name, unsigned char* iv, EVP_CIPHER_CTX* cipher,
                      EVP_MAC_CTX* mac) const {
  const Key& key = keys_.front();
  std::memcpy(name, key.name, sizeof(key.name));
  const EVP_CIPHER* aes = EVP_aes_256_cbc();
  if (RAND_bytes(iv, EVP_CIPHER_get_iv_length(aes)) != 1 ||
      EVP_EncryptInit_ex(cipher, aes, nullptr, key.aes, iv) != 1 ||
      !setMac(mac, key.hmac, sizeof(key.hmac))) {
    return -1;
  }
  return 1;
}

int TicketKeys::open(const unsigned char* name, const unsigned char* iv, EVP_CIPHER_CTX* cipher,
                     EVP_MAC_CTX* mac) const {
  for (const Key& key : keys_) {
    if (std::memcmp(name, key.name, sizeof(key.name)) != 0) continue;
    if (EVP_DecryptInit_ex(cipher, EVP_aes_256_cbc(), nullptr, key.aes, iv) != 1 ||
        !setMac(mac, key.hmac, sizeof(key.hmac))) {
      return -1;
    }
    // 2: with a ticket of the first key, the next time.
    return &key == &keys_.front() ? 1 : 2;
  }
  // A whole handshake.
  return 0;
}

}  // namespace fairlead::tls
