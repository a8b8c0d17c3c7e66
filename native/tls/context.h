// What connections of one transport socket have in common: certificates, keys, versions, ciphers,
// whom they trust. Built by the control thread, which refuses what is wrong; immutable then, and
// shared by all workers. It lives as long as the last connection made of it.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/plan.gen.h"
#include "tls/key_log.h"
#include "tls/ocsp_response.h"
#include "tls/openssl.h"
#include "tls/session_scope.h"
#include "tls/session_store.h"
#include "tls/ticket_keys.h"
#include "tls/verifier.h"

namespace fairlead::tls {

// What becomes of a client's wish for an OCSP response.
enum class OcspStaple : uint8_t { NotAsked, Sent, Omitted, Failed };

class Context {
 public:
  // What is not its own.
  struct Surroundings {
    unsigned workers = 0;
    // For which clients are sent here; sessions are good for the same ones only.
    std::vector<std::string> server_names = {};
    // Null: nobody is told secrets.
    std::shared_ptr<const KeyLog> key_log = nullptr;
  };
  static Result<std::shared_ptr<const Context>> build(const plan::TlsContext& plan,
                                                      const Surroundings& around);

  // A connection's state, of no role yet. Null: no memory.
  SslPtr makeSsl() const { return SslPtr(SSL_new(certificates_.front().context.get())); }

  const plan::TlsContext& plan() const { return plan_; }
  bool hasProtocols() const { return !alpn_.empty(); }
  bool isServer() const { return plan_.server.has_value(); }
  // A secret has not come yet: there is nothing to make connections of.
  bool isIncomplete() const { return plan_.is_incomplete; }
  // A worker's; null: none are kept.
  SessionStore* sessions(unsigned worker) const {
    return worker < sessions_.size() ? sessions_[worker].get() : nullptr;
  }
  // Null: nobody is asked for a certificate.
  const Verifier* verifier() const { return verifier_.get(); }
  // Null: nobody is told secrets.
  const KeyLog* keyLog() const { return key_log_.get(); }

  // When each of them expires, by the name that statistics have for it; the earliest of a name.
  const std::map<std::string, int64_t>& expiries() const { return expiries_; }

 private:
  // An SSL_CTX of its own for each certificate; all have the same settings.
  struct Certificate {
    SslContextPtr context;
    bool is_ecdsa = false;
    // Null: none goes with it.
    std::unique_ptr<const OcspResponse> ocsp_response = nullptr;
    bool must_staple = false;
  };
  // Of a client that has said whom it wants.
  struct Wishes {
    std::string_view server_name;
    bool takes_ecdsa;
    bool asks_for_ocsp;
  };

  Context(const plan::TlsContext& plan, std::shared_ptr<const KeyLog> key_log)
      : plan_(plan), key_log_(std::move(key_log)) {}
  Result<void> addCertificate(const plan::TlsCertificate* plan, SessionScope* scope);
  Result<void> addOcspResponse(const std::string& der, const X509* own, Certificate* to) const;
  Result<void> configure(SSL_CTX* context) const;
  Result<void> configureServer(SSL_CTX* context) const;
  Result<void> setLists(SSL_CTX* context) const;
  void setVerification(SSL_CTX* context) const;
  void addNames(const X509* certificate, size_t index);
  void noteExpiry(const std::string& name, const X509* certificate);
  // When the first of them ends; nothing: there is none.
  void noteAuthorities(const std::string& name, const std::optional<int64_t>& first_end);

  OcspStaple stapleOf(const Certificate& certificate, bool is_asked) const;
  const Certificate& choose(const Wishes& wishes) const;
  const Certificate* findByName(std::string_view name, const Wishes& wishes) const;

  // OpenSSL's callbacks.
  static int onCertificate(SSL* ssl, void* context);
  static int onOcspStatus(SSL* ssl, void*);
  static int onTicketMade(SSL* ssl, void*);
  static int onClientHello(SSL* ssl, int* alert, void*);
  static int onAlpn(SSL* ssl, const unsigned char** out, unsigned char* out_size,
                    const unsigned char* in, unsigned in_size, void* context);

  const plan::TlsContext plan_;
  std::vector<Certificate> certificates_;
  // Certificates that have the name, the first of either kind of key; ".test" is of "*.test".
  std::map<std::string, std::vector<size_t>, std::less<>> by_name_;
  std::map<std::string, int64_t> expiries_;
  std::shared_ptr<const Verifier> verifier_;
  const std::shared_ptr<const KeyLog> key_log_;
  TicketKeys ticket_keys_;
  // As the handshake has it: each with its length before it.
  std::string alpn_;
  // With whoever this context trusts; empty: none are kept.
  std::vector<std::unique_ptr<SessionStore>> sessions_;
};

}  // namespace fairlead::tls
