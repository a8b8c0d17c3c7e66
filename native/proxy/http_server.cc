#include "proxy/http_server.h"

#include "proxy/downstream.h"

namespace fairlead::proxy {

HttpServer::HttpServer(std::shared_ptr<const HttpConfig> config, Context& context)
    : config_(std::move(config)),
      context_(context),
      stats_(*config_->stats->shard(context.upstream.worker + 1)),
      listener_stats_(*config_->listener_stats->shard(context.upstream.worker + 1)),
      codec_stats_(*config_->codec_stats->shard(context.upstream.worker + 1)),
      http2_stats_(*config_->http2_stats->shard(context.upstream.worker + 1)) {}

net::DownstreamConnection* HttpServer::accept(net::AcceptedSocket socket,
                                              net::ConnectionAccounts& accounts) {
  // Owns itself from here on; may have ended already when start() returns.
  auto* downstream = new Downstream(*this, socket, accounts);
  return downstream->start(std::move(socket.fd)) ? downstream : nullptr;
}

}  // namespace fairlead::proxy
