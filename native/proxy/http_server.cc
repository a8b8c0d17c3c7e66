#include "proxy/http_server.h"

#include "proxy/downstream.h"

namespace fairlead::proxy {

HttpServer::HttpServer(WorkerPin<HttpConfig> config, Context& context)
    : pin_(std::move(config)),
      config_(*pin_),
      context_(context),
      overload_(config_.codec.bypasses_overload ? net::Overload::none()
                                                : context.upstream.overload),
      stats_(*config_.stats->shard(context.upstream.worker + 1)),
      listener_stats_(*config_.listener_stats->shard(context.upstream.worker + 1)),
      codec_stats_(*config_.codec_stats->shard(context.upstream.worker + 1)),
      http2_stats_(*config_.http2_stats->shard(context.upstream.worker + 1)) {}

void HttpServer::onRefused() {
  using Counter = stats::Http::Counter;
  stats_.add(Counter::DownstreamCxTotal);
  stats_.add(Counter::DownstreamCxDestroy);
  stats_.add(Counter::DownstreamCxDestroyLocal);
}

net::DownstreamConnection* HttpServer::accept(net::AcceptedSocket socket,
                                              net::ConnectionAccounts& accounts) {
  // Owns itself from here on; may have ended already when start() returns.
  auto* downstream = new Downstream(*this, socket, accounts);
  return downstream->start(std::move(socket.fd)) ? downstream : nullptr;
}

}  // namespace fairlead::proxy
