// HTTP on one filter chain of one worker: makes its connections, and keeps what they share:
// settings and statistics. The worker's thread.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "base/worker_pin.h"
#include "net/downstream_connection.h"
#include "proxy/context.h"
#include "proxy/http_config.h"

namespace fairlead::proxy {

class HttpServer final : public net::ConnectionFactory {
 public:
  HttpServer(std::shared_ptr<const HttpConfig> config, Context& context)
      : HttpServer(WorkerPin<HttpConfig>(std::move(config)), context) {}
  // Of what outlives its filter chain, and goes by the same configuration.
  HttpServer(WorkerPin<HttpConfig> config, Context& context);

  net::DownstreamConnection* accept(net::AcceptedSocket socket,
                                    net::ConnectionAccounts& accounts) override;

  void onRefused() override;

  const HttpConfig& config() const { return config_; }
  const WorkerPin<HttpConfig>& configPin() const { return pin_; }
  Context& context() { return context_; }
  const net::Overload& overload() const { return overload_; }
  stats::Shard<stats::Http>& stats() { return stats_; }
  stats::Shard<stats::ListenerHttp>& listenerStats() { return listener_stats_; }
  stats::Shard<stats::Http1Codec>& codecStats() { return codec_stats_; }
  stats::Shard<stats::Http2Codec>& http2Stats() { return http2_stats_; }

 private:
  const WorkerPin<HttpConfig> pin_;
  const HttpConfig& config_;
  Context& context_;
  const net::Overload& overload_;
  stats::Shard<stats::Http>& stats_;
  stats::Shard<stats::ListenerHttp>& listener_stats_;
  stats::Shard<stats::Http1Codec>& codec_stats_;
  stats::Shard<stats::Http2Codec>& http2_stats_;
};

}  // namespace fairlead::proxy
