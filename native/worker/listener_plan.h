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

struct EchoPlan {
  net::SharedTransport transport;
  uint64_t slow_timeout_ms = 0;
  std::string chain_name = {};
};
struct DirectResponsePlan {
  std::string body;
  net::SharedTransport transport;
  std::string chain_name = {};
};
// A filter of the chain has not come, or there is none: its connections close at once, which is
// counted.
struct MissingPlan {
  std::shared_ptr<stats::Block<stats::Listener>> stats;
  // What takes connections once it has come, so that what stands there already is not lost.
  std::shared_ptr<const proxy::HttpConfig> later;
};

using FilterPlan = std::variant<MissingPlan, EchoPlan, DirectResponsePlan,
                                std::shared_ptr<const proxy::HttpConfig>,
                                std::shared_ptr<const tcp::TcpProxyConfig>>;

struct FilterChainPlan {
  // Of the plan.
  uint64_t id;
  FilterPlan filter;
  // What connections pass first; null: nothing.
  std::shared_ptr<const net::ConnectionGates> gates;
  // Written by the control thread: see worker/drain.h.
  std::shared_ptr<net::DrainDecision> drain;
  // Beneath all of its filters; null: bytes in the clear.
  net::SharedTransport transport;
};

// All filter chains of a listener.
struct FilterChainsPlan {
  net::FilterChains chains;
  // As `chains` numbers them. Those that have been there before are the same.
  std::vector<std::shared_ptr<const FilterChainPlan>> plans;
  // Of matchers of addresses, which never fail to read one here; only shown.
  std::vector<std::shared_ptr<stats::BlockBase>> matcher_stats;
};

struct ListenerPlan {
  // Of the plan.
  uint64_t id;
  net::ListenerConfig config;
  // Of connections.
  std::vector<std::shared_ptr<access_log::AccessLog>> access_logs;
};

}  // namespace fairlead::worker
