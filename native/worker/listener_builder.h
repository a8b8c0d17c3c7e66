// Makes of a listener's plan what workers share of it. Every refusal happens here. The control
// thread's.
#pragma once

#include <memory>
#include <vector>

#include "access_log/log_files.h"
#include "base/name_ids.h"
#include "base/result.h"
#include "base/runtime_slots.h"
#include "filters/http/faults.h"
#include "filters/http/tap.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"
#include "worker/drain.h"
#include "worker/listener_plan.h"
#include "worker/route_tables.h"

namespace fairlead::worker {

using AccessLogs = std::vector<std::shared_ptr<access_log::AccessLog>>;

// What listeners are made with; all of it outlives them.
struct ListenerParts {
  stats::Registry& registry;
  unsigned workers;
  RuntimeSlots& slots;
  access_log::LogFiles& logs;
  // The numbers of their names.
  NameIds& clusters;
  RouteTables& route_tables;
  Drain& drain;
  filters::Taps& taps;
  filters::Faults& faults;
  std::shared_ptr<net::AllConnections> all_connections;
  // Beneath connections.
  net::SharedTransport transport;
  // Passed last in every HTTP connection manager; null: none.
  std::shared_ptr<const filters::HttpFilterConfig> last_filter;
};

class ListenerBuilder {
 public:
  explicit ListenerBuilder(ListenerParts parts) : parts_(std::move(parts)) {}

  // Bound to `address`.
  Result<std::shared_ptr<const ListenerPlan>> build(const plan::Listener& plan,
                                                    const net::Address& address) const;
  Result<AccessLogs> buildLogs(const std::vector<plan::AccessLog>& plans) const;

 private:
  Result<FilterChainPlan> buildChain(const plan::Listener& listener, const plan::FilterChain& chain,
                                     std::shared_ptr<const net::DrainDecision> drain) const;
  Result<FilterChainPlan> buildHttp(const plan::Listener& listener, const plan::FilterChain& chain,
                                    std::shared_ptr<const net::DrainDecision> drain) const;
  Result<FilterChainPlan> buildTcp(const plan::Listener& listener,
                                   const plan::FilterChain& chain) const;

  const ListenerParts parts_;
};

}  // namespace fairlead::worker
