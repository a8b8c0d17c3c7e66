// envoy.filters.network.ratelimit: a service of gRPC says whether there may be another connection,
// asked when it comes. Shared by all workers; immutable but for statistics.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "calls/service.h"
#include "filters/network/connection_guard.h"
#include "format/format.h"

namespace fairlead::filters {

class NetworkRatelimit final : public ConnectionGuard {
 public:
  static Result<std::shared_ptr<const ConnectionGuard>> build(const plan::NetworkRatelimit& plan,
                                                              const GuardScope& scope);

  std::unique_ptr<GuardPass> make(net::DownstreamConnection& connection, unsigned worker,
                                  GuardWaiter& waiter) const override;
  bool isFirst() const override { return true; }

  // What the service is asked.
  std::string request(const format::FormatContext& context) const;

  plan::NetworkRatelimit plan;
  std::unique_ptr<const calls::Service> service;
  // Of hundredths.
  RuntimeNumber enabled;
  RuntimeNumber enforcing;
  std::shared_ptr<const WorkerCalls> calls;
  std::shared_ptr<stats::Block<stats::NetworkRatelimit>> stats;

 private:
  using Entries = std::vector<std::pair<std::string, format::Format>>;

  std::vector<Entries> descriptors_;
};

}  // namespace fairlead::filters
