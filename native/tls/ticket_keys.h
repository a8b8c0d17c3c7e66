// Keys that the configuration gives for session tickets, so that clients resume with whoever has
// the same ones: another worker, another process, another machine. Immutable.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tls/openssl.h"

namespace fairlead::tls {

class TicketKeys {
 public:
  static constexpr size_t kBytes = 80;

  TicketKeys() = default;
  // The first one encrypts, any decrypts. Each has kBytes.
  explicit TicketKeys(const std::vector<std::string>& keys);
  ~TicketKeys();
  TicketKeys(const TicketKeys&) = delete;
  TicketKeys& operator=(const TicketKeys&) = delete;
  TicketKeys& operator=(TicketKeys&& other) noexcept;

  bool empty() const { return keys_.empty(); }
  // Tickets of the context are made with these, which outlive it.
  void use(SSL_CTX* context) const;

 private:
  struct Key {
    unsigned char name[16];
    unsigned char hmac[32];
    unsigned char aes[32];
  };

  static int onTicket(SSL* ssl, unsigned char* name, unsigned char* iv, EVP_CIPHER_CTX* cipher,
                      EVP_MAC_CTX* mac, int encrypts);
  int begin(unsigned char* name, unsigned char* iv, EVP_CIPHER_CTX* cipher, EVP_MAC_CTX* mac) const;
  int open(const unsigned char* name, const unsigned char* iv, EVP_CIPHER_CTX* cipher,
           EVP_MAC_CTX* mac) const;

  std::vector<Key> keys_;
};

}  // namespace fairlead::tls
