// envoy.filters.network.direct_response: every client gets the same bytes, then the end.
// The worker's thread.
#pragma once

#include <string>

#include "net/connection.h"
#include "net/downstream_connection.h"

namespace fairlead::filters {

class DirectResponse final : public net::ConnectionFactory {
 public:
  DirectResponse(net::Loop& loop, net::OutBatch& batch, std::string body)
      : loop_(loop), batch_(batch), body_(std::move(body)) {}

  net::DownstreamConnection* accept(net::AcceptedSocket socket,
                                    net::ConnectionAccounts& accounts) override;

 private:
  net::Loop& loop_;
  net::OutBatch& batch_;
  const std::string body_;
};

}  // namespace fairlead::filters
