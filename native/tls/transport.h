// TLS beneath one connection. Owned by the connection; its worker's thread.
#pragma once

#include <memory>
#include <string>

#include "net/timer_wheel.h"
#include "net/transport.h"
#include "stats/registry.h"
#include "tls/context.h"
#include "tls/hello_check.h"
#include "tls/info.h"
#include "tls/verifier.h"
#include "tls/wire.h"

namespace fairlead::tls {

class SessionStore;

class Transport final : public net::Transport, private net::Timer {
 public:
  struct Setup {
    std::shared_ptr<const Context> context;
    stats::Shard<stats::Ssl>* stats;
    unsigned worker = 0;
    // A worker's; null: sessions are not kept.
    SessionStore* sessions = nullptr;
    // Of clients; empty: none is sent.
    std::string server_name = {};
    // By line ends: the certificate must be for one of them as well; empty: it need not.
    std::string wanted_names = {};
    // Offered by ALPN; empty: what the context says.
    std::string_view protocols = {};
    // 0: none. `timeouts` counts those that took longer.
    net::Millis handshake_timeout_ms = 0;
    stats::Shard<stats::Listener>* timeouts = nullptr;
    // Of servers: whose connection it is; null: nobody says.
    net::DownstreamConnection* owner = nullptr;
  };
  explicit Transport(Setup setup);
  ~Transport() override;

  // net::Transport
  void attach(net::Connection& connection) override;
  Handshake handshake(int fd) override;
  uint32_t onEvents(uint32_t events) override;
  ssize_t read(int fd, char* to, size_t room) override;
  ssize_t write(int fd, const iovec* parts, int count) override;
  void endWriting(int fd) override;
  void onClose(int fd) override;
  net::SharedTlsInfo tls() const override { return info_; }

  // OpenSSL's callbacks.
  static int onVerify(X509_STORE_CTX* store, void*);
  static int onNewSession(SSL* ssl, SSL_SESSION* session);
  static void onSecret(const SSL* ssl, const char* line);
  // The server's, once for each handshake that chooses a certificate.
  static void onOcspStaple(SSL* ssl, OcspStaple staple);

 private:
  // What is only needed until the handshake is done.
  struct Opening {
    std::string wanted_names;
    std::string details;
    net::Millis timeout_ms;
    stats::Shard<stats::Listener>* timeouts;
    net::DownstreamConnection* owner;
    bool is_late = false;
  };

  void onTimer() override;
  // Has OpenSSL begin.
  SSL* begin();
  // Whether enough has come for a server to begin with. What is no hello is refused, and has failed
  // then.
  bool isWorthBeginning(int fd);
  void refuse(int fd, const HelloCheck& check);
  // What a client has said that no handshake begins with.
  static void dropWaiting(int fd);
  bool lacksVerifier() const;
  int verify(X509_STORE_CTX* store);
  std::string_view workload() const;
  void endHandshake();
  void fail(int fd);
  // -1 with errno, or 0 for the peer's end.
  ssize_t readError(int result);
  // The bytes to write next; not more than one record has.
  std::string_view nextRecord(const iovec* parts, int count) const;

  const std::shared_ptr<const Context> context_;
  const std::shared_ptr<Info> info_;
  Wire wire_;
  stats::Shard<stats::Ssl>& stats_;
  SessionStore* const sessions_;
  // What its sessions are kept by, where they are.
  std::unique_ptr<const std::string> session_key_;
  net::Connection* connection_ = nullptr;
  std::unique_ptr<Opening> opening_;
  const uint16_t worker_;
  bool has_begun_ = false;
  bool is_open_ = false;
  bool has_failed_ = false;
  bool has_said_goodbye_ = false;
  // Reading goes on once there is room to write.
  bool read_waits_for_room_ = false;
};

// What a connection gets whose secrets have not come yet: it fails at once.
class NotReadyTransport final : public net::Transport {
 public:
  Handshake handshake(int) override { return Handshake::Failed; }
  ssize_t read(int, char*, size_t) override;
  ssize_t write(int, const iovec*, int) override;
  void endWriting(int) override {}
  net::SharedTlsInfo tls() const override;
};

}  // namespace fairlead::tls
