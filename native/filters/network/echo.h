// envoy.filters.network.echo: what a client sends comes back. The worker's thread.
#pragma once

#include <string>
#include <utility>

#include "net/connection.h"
#include "net/downstream_connection.h"

namespace fairlead::filters {

class Echo final : public net::ConnectionFactory {
 public:
  Echo(net::Loop& loop, net::OutBatch& batch, uint32_t buffer_limit_bytes,
       net::SharedTransport transport = nullptr, unsigned worker = 0,
       net::Millis slow_timeout_ms = 0, std::string chain_name = {})
      : loop_(loop),
        batch_(batch),
        buffer_limit_bytes_(buffer_limit_bytes),
        transport_(std::move(transport)),
        worker_(worker),
        slow_timeout_ms_(slow_timeout_ms),
        chain_name_(std::move(chain_name)) {}

  net::DownstreamConnection* accept(net::AcceptedSocket socket,
                                    net::ConnectionAccounts& accounts) override;

 private:
  net::Loop& loop_;
  net::OutBatch& batch_;
  const uint32_t buffer_limit_bytes_;
  const net::SharedTransport transport_;
  const unsigned worker_;
  const net::Millis slow_timeout_ms_;
  // Of its filter chain.
  const std::string chain_name_;
};

}  // namespace fairlead::filters
