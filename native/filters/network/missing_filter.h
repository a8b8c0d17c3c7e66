// A filter chain of which a filter has not come yet (ECDS): its connections close at once, which is
// counted. The worker's thread.
#pragma once

#include "net/downstream_connection.h"
#include "net/loop.h"
#include "stats/registry.h"

namespace fairlead::filters {

class MissingFilter final : public net::ConnectionFactory {
 public:
  // `stats`: of its listener.
  MissingFilter(net::Loop& loop, stats::Shard<stats::Listener>& stats)
      : loop_(loop), stats_(stats) {}

  net::DownstreamConnection* accept(net::AcceptedSocket socket,
                                    net::ConnectionAccounts& accounts) override;

 private:
  net::Loop& loop_;
  stats::Shard<stats::Listener>& stats_;
};

}  // namespace fairlead::filters
