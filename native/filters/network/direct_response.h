// envoy.filters.network.direct_response: every client gets the same bytes, then the end.
// The worker's thread.
#pragma once

#include <string>
#include <utility>

#include "net/connection.h"
#include "net/downstream_connection.h"

namespace fairlead::filters {

class DirectResponse final : public net::ConnectionFactory {
 public:
  DirectResponse(net::Loop& loop, net::OutBatch& batch, std::string body,
                 net::SharedTransport transport = nullptr, unsigned worker = 0,
                 std::string chain_name = {})
      : loop_(loop),
        batch_(batch),
        body_(std::move(body)),
        transport_(std::move(transport)),
        worker_(worker),
        chain_name_(std::move(chain_name)) {}

  net::DownstreamConnection* accept(net::AcceptedSocket socket,
                                    net::ConnectionAccounts& accounts) override;

 private:
  net::Loop& loop_;
  net::OutBatch& batch_;
  const std::string body_;
  const net::SharedTransport transport_;
  const unsigned worker_;
  // Of its filter chain.
  const std::string chain_name_;
};

}  // namespace fairlead::filters
