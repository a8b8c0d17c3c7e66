// The transport sockets of TLS that filter chains and clusters have: made of plans, and given new
// contexts when files or secrets change. The control thread's.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"
#include "tls/transports.h"

namespace fairlead::worker {

class TlsSockets {
 public:
  TlsSockets(stats::Registry& registry, unsigned workers, log_files::LogFiles& logs)
      : registry_(registry), workers_(workers), logs_(logs) {}

  // Of a listener, whose statistics have the scope.
  Result<net::SharedTransport> make(const plan::FilterChain& chain, const stats::Scope& scope,
                                    std::shared_ptr<stats::Block<stats::Listener>> listener);
  Result<net::SharedTransport> make(const plan::TlsContext& plan, const stats::Scope& cluster);
  // In the place of that of the same id, for connections that come later. The error says what is
  // wrong with it; the former goes on then.
  Result<void> replace(const plan::TlsContext& plan);

 private:
  struct Socket {
    std::weak_ptr<tls::Transports> transports;
    stats::Scope scope;
    std::vector<std::string> server_names;
  };

  struct Counts {
    const stats::Scope& scope;
    tls::Blocks blocks;
    // Handshakes of the scope were counted before.
    bool is_known;
  };

  Result<net::SharedTransport> make(const plan::TlsContext& plan, Counts counts,
                                    uint64_t handshake_timeout_ms,
                                    std::vector<std::string> server_names);
  bool knowsSsl(const stats::Scope& scope) const;
  void showExpiries(const tls::Context& context, const stats::Scope& scope,
                    tls::Transports& transports);

  Result<std::shared_ptr<const tls::Context>> build(
      const plan::TlsContext& plan, const std::vector<std::string>& server_names) const;

  stats::Registry& registry_;
  const unsigned workers_;
  log_files::LogFiles& logs_;
  // By the ids of their contexts.
  std::map<uint32_t, Socket> sockets_;
};

}  // namespace fairlead::worker
