// A client and a server that speak TLS with each other on a loop of the test's own.
#pragma once

#include <sys/socket.h>

#include <memory>
#include <string>
#include <utility>

#include "net/connection.h"
#include "stats/registry.h"
#include "test/native/http/http1/peer.h"
#include "test/native/tls/certificates.h"
#include "tls/transports.h"

namespace fairlead::test {

constexpr uint32_t kTls12 = 0x0303;
constexpr uint32_t kTls13 = 0x0304;

inline void addIdentity(plan::TlsContext* plan, const Identity& identity) {
  plan::TlsCertificate& certificate = plan->certificates.emplace_back();
  certificate.chain = identity.certificate;
  certificate.key = identity.key;
  certificate.name = "own";
}

inline plan::TlsContext serverPlan(const std::vector<Identity>& identities) {
  plan::TlsContext plan;
  plan.min_version = kTls12;
  plan.max_version = kTls13;
  plan.server.emplace();
  for (const Identity& identity : identities) {
    addIdentity(&plan, identity);
  }
  return plan;
}

inline plan::TlsContext clientPlan(const std::string& authority = {}) {
  plan::TlsContext plan;
  plan.min_version = kTls12;
  plan.max_version = kTls13;
  plan.max_sessions = 1;
  if (!authority.empty()) plan.validation.emplace().trusted_ca = authority;
  return plan;
}

// One side's settings, with its statistics.
class TlsSide {
 public:
  explicit TlsSide(const plan::TlsContext& plan, uint64_t handshake_timeout_ms = 0,
                   tls::Context::Surroundings around = {})
      : ssl(registry_.create<stats::Ssl>(stats::plainScope("ssl."))),
        listener(registry_.create<stats::Listener>(stats::plainScope("listener."))) {
    around.workers = 1;
    auto context = tls::Context::build(plan, around);
    FL_CHECK(context.ok());
    transports = std::make_unique<tls::Transports>(
        context.value(),
        tls::Blocks{ssl, registry_.create<stats::SslSocketFactory>(stats::plainScope("factory.")),
                    listener},
        handshake_timeout_ms);
  }
  uint64_t count(stats::Ssl::Counter counter) const {
    return ssl->counter(static_cast<size_t>(counter)).value;
  }

 private:
  stats::Registry registry_{1};

 public:
  std::shared_ptr<stats::Block<stats::Ssl>> ssl;
  std::shared_ptr<stats::Block<stats::Listener>> listener;
  std::unique_ptr<tls::Transports> transports;
};

// A connection and what its handler is told.
class TlsEnd final : private net::ConnectionHandler {
 public:
  TlsEnd(net::Loop& loop, net::FileDescriptor fd, const TlsSide& side,
         std::string_view host_name = {}, std::string_view wanted_name = {})
      : connection_(*new net::Connection(
            loop, std::move(fd), 1 << 20, net::Connection::Start::Established,
            side.transports->make({.host_name = host_name, .wanted_names = wanted_name}))) {
    connection_.setHandler(*this);
    FL_CHECK(connection_.start());
  }
  ~TlsEnd() { connection_.close(); }
  net::Connection* operator->() { return &connection_; }
  void write(std::string_view bytes) {
    batch_.claim(connection_);
    batch_.addView(bytes);
    connection_.send(batch_);
  }
  std::string value(net::TlsValue value) const {
    std::string text;
    connection_.transport()->tls()->append(value, &text);
    return text;
  }
  std::string_view failure() const { return connection_.transportFailure(); }

  std::string got;
  // -1: not yet; 0: the handshake is done.
  int readied = -1;
  bool ended = false;

 private:
  void onReady(int error) override { readied = error; }
  void onReadable() override {
    while (connection_.isReadable() && !connection_.isReadingPaused()) {
      const net::Connection::Read read = connection_.read();
      if (read.result == net::Connection::ReadResult::Nothing) return;
      if (read.result != net::Connection::ReadResult::Data) {
        ended = true;
        return;
      }
      got.append(read.data, read.size);
    }
  }
  void onWriteFailed() override { ended = true; }

  net::Connection& connection_;
  net::OutBatch batch_;
};

// Both, connected; the handshake has been given time.
struct TlsPair {
  TlsPair(const TlsSide& server_side, const TlsSide& client_side, std::string_view host_name = {},
          std::string_view wanted_name = {}) {
    int ends[2];
    FL_CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) == 0);
    server = std::make_unique<TlsEnd>(loop, net::FileDescriptor(ends[0]), server_side);
    client = std::make_unique<TlsEnd>(loop, net::FileDescriptor(ends[1]), client_side, host_name,
                                      wanted_name);
    settle();
  }
  ~TlsPair() {
    client.reset();
    server.reset();
    settle();
  }
  void settle() {
    for (int i = 0; i < 20; ++i) loop.turn(0);
  }

  net::Loop loop;
  std::unique_ptr<TlsEnd> server;
  std::unique_ptr<TlsEnd> client;
};

}  // namespace fairlead::test
