#include "tls/transports.h"

#include <utility>

#include "net/overload.h"
#include "tls/transport.h"

namespace fairlead::tls {

Transports::Transports(std::shared_ptr<const Context> context, Blocks blocks,
                       uint64_t handshake_timeout_ms)
    : id_(context->plan().id),
      blocks_(std::move(blocks)),
      handshake_timeout_ms_(handshake_timeout_ms),
      context_(std::move(context)) {}

void Transports::replace(std::shared_ptr<const Context> context) {
  blocks_.factory->shard(0)->add(stats::SslSocketFactory::Counter::SslContextUpdateBySds);
  if (!context->isIncomplete()) blocks_.ssl->show();
  context_.store(std::move(context), std::memory_order_release);
}

std::unique_ptr<net::Transport> Transports::make(const net::TransportTarget& target) const {
  const unsigned shard = target.worker + 1;
  std::shared_ptr<const Context> context = context_.load(std::memory_order_acquire);
  if (context->isIncomplete()) {
    using Counter = stats::SslSocketFactory::Counter;
    blocks_.factory->shard(shard)->add(context->isServer()
                                           ? Counter::DownstreamContextSecretsNotReady
                                           : Counter::UpstreamContextSecretsNotReady);
    return std::make_unique<NotReadyTransport>();
  }
  Transport::Setup setup;
  setup.stats = blocks_.ssl->shard(shard);
  setup.worker = target.worker;
  setup.handshake_timeout_ms =
      target.overload ? target.overload->scaled(net::Overload::TimerType::TransportConnect,
                                                handshake_timeout_ms_)
                      : handshake_timeout_ms_;
  setup.owner = target.owner;
  if (blocks_.listener) setup.timeouts = blocks_.listener->shard(shard);
  if (!context->isServer()) {
    const plan::TlsContext& plan = context->plan();
    setup.sessions = context->sessions(target.worker);
    setup.server_name =
        plan.sni_of_host && !target.host_name.empty() ? std::string(target.host_name) : plan.sni;
    setup.protocols = !target.chosen_protocols.empty() ? target.chosen_protocols
                      : plan.alpn.empty()              ? target.protocols
                                                       : std::string_view();
    if (!target.server_name.empty()) setup.server_name = target.server_name;
    setup.wanted_names =
        plan.demands_sni_san ? setup.server_name : std::string(target.wanted_names);
  }
  setup.context = std::move(context);
  return std::make_unique<Transport>(std::move(setup));
}

}  // namespace fairlead::tls
