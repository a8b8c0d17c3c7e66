// A listener ready for workers: what all of them share of it. Immutable. Built by the control
// thread; every refusal happens there.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "access_log/access_log.h"
#include "net/listener.h"
#include "proxy/http_config.h"
#include "tcp/tcp_proxy.h"

namespace fairlead::worker {

struct EchoPlan {};
struct DirectResponsePlan {
  std::string body;
};
// A chain without any filter: its connections close at once.
struct EmptyPlan {};

using FilterChainPlan =
    std::variant<EmptyPlan, EchoPlan, DirectResponsePlan, std::shared_ptr<const proxy::HttpConfig>,
                 std::shared_ptr<const tcp::TcpProxyConfig>>;

struct ListenerPlan {
  std::shared_ptr<const net::ListenerConfig> config;
  // Written by the control thread: see worker/drain.h.
  std::shared_ptr<net::DrainDecision> drain;
  std::vector<FilterChainPlan> chains;
  // Of connections.
  std::vector<std::shared_ptr<access_log::AccessLog>> access_logs;
};

}  // namespace fairlead::worker
