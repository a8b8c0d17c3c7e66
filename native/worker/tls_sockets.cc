#include "worker/tls_sockets.h"

#include <utility>
#include <vector>

#include "stats/scopes.h"

namespace fairlead::worker {

Result<net::SharedTransport> TlsSockets::make(
    const plan::FilterChain& chain, const stats::Scope& scope,
    std::shared_ptr<stats::Block<stats::Listener>> listener) {
  const bool is_known = knowsSsl(scope);
  const tls::Blocks blocks = {
      registry_.create<stats::Ssl>(innerScope(scope, "ssl.")),
      registry_.create<stats::SslSocketFactory>(innerScope(scope, "server_ssl_socket_factory.")),
      std::move(listener)};
  auto server_names = chain.match ? chain.match->server_names : std::vector<std::string>();
  return make(*chain.tls, {scope, blocks, is_known}, chain.handshake_timeout_ms,
              std::move(server_names));
}

Result<net::SharedTransport> TlsSockets::make(const plan::TlsContext& plan,
                                              const stats::Scope& scope) {
  const bool is_known = knowsSsl(scope);
  const tls::Blocks blocks = {
      registry_.renew<stats::Ssl>(innerScope(scope, "ssl.")),
      registry_.create<stats::SslSocketFactory>(innerScope(scope, "client_ssl_socket_factory.")),
      nullptr};
  // How long a connection may take to be made includes its handshake.
  return make(plan, {scope, blocks, is_known}, 0, {});
}

bool TlsSockets::knowsSsl(const stats::Scope& scope) const {
  return registry_.value(scope.prefix + "ssl.handshake").has_value();
}

Result<net::SharedTransport> TlsSockets::make(const plan::TlsContext& plan, Counts counts,
                                              uint64_t handshake_timeout_ms,
                                              std::vector<std::string> server_names) {
  auto context = build(plan, server_names);
  if (!context) return context.error();
  // As in the real server: what is counted of handshakes is there once one can be made.
  stats::BlockBase& ssl = *counts.blocks.ssl;
  if (!context.value()->isIncomplete())
    ssl.show();
  else if (!counts.is_known)
    ssl.hide();
  auto transports = std::make_shared<tls::Transports>(context.value(), std::move(counts.blocks),
                                                      handshake_timeout_ms);
  showExpiries(*context.value(), counts.scope, *transports);
  std::erase_if(sockets_, [](const auto& entry) { return entry.second.transports.expired(); });
  if (plan.id != 0) sockets_[plan.id] = {transports, counts.scope, std::move(server_names)};
  return net::SharedTransport(std::move(transports));
}

Result<std::shared_ptr<const tls::Context>> TlsSockets::build(
    const plan::TlsContext& plan, const std::vector<std::string>& server_names) const {
  tls::Context::Surroundings around{workers_, server_names};
  if (plan.key_log) {
    auto log = tls::KeyLog::open(*plan.key_log, logs_);
    if (!log) return log.error();
    around.key_log = std::move(log.value());
  }
  return tls::Context::build(plan, around);
}

Result<void> TlsSockets::replace(const plan::TlsContext& plan) {
  const auto found = sockets_.find(plan.id);
  if (found == sockets_.end()) return {};
  const auto transports = found->second.transports.lock();
  if (!transports) return {};
  auto context = build(plan, found->second.server_names);
  if (!context) return context.error();
  showExpiries(*context.value(), found->second.scope, *transports);
  transports->replace(std::move(context.value()));
  return {};
}

void TlsSockets::showExpiries(const tls::Context& context, const stats::Scope& scope,
                              tls::Transports& transports) {
  std::vector<std::shared_ptr<stats::BlockBase>> kept;
  for (const auto& [name, seconds] : context.expiries()) {
    auto block = registry_.create<stats::SslCertificate>(stats::sslCertificateScope(scope, name));
    block->shard(0)->set(stats::SslCertificate::Gauge::ExpirationUnixTimeSeconds,
                         static_cast<uint64_t>(seconds));
    kept.push_back(std::move(block));
  }
  transports.keepExpiries(std::move(kept));
}

}  // namespace fairlead::worker
