// An HTTP connection manager's settings, compiled. Immutable; shared by all workers.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "access_log/access_log.h"
#include "base/runtime_slots.h"
#include "filters/http/http_filter.h"
#include "http/codec_settings.h"
#include "http/normalize_path.h"
#include "net/address.h"
#include "net/drain_decision.h"
#include "net/transport.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"

namespace fairlead::proxy {

struct HttpConfig {
  HttpConfig(const plan::HttpConnectionManager& settings, uint32_t buffer_limit);

  plan::HttpConnectionManager plan;
  plan::Router router;
  http::ServerSettings codec;
  // Beneath its clients' connections.
  net::SharedTransport transport;
  http::PathRules path_rules;
  // Of HTTP/2: resets of half of so many requests, each within so many seconds, are too many.
  RuntimeNumber premature_resets{500, 0, nullptr};
  RuntimeNumber premature_reset_s{1, 0, nullptr};
  uint32_t buffer_limit_bytes;
  std::string filter_chain_name;
  std::vector<net::Cidr> internal_addresses;
  // Where the worker has its route table, if one has come.
  NameIds::Ref routes;
  // The listener's.
  std::shared_ptr<const net::DrainDecision> drain;
  std::shared_ptr<stats::Block<stats::Http>> stats;
  std::shared_ptr<stats::Block<stats::ListenerHttp>> listener_stats;
  std::shared_ptr<stats::Block<stats::Http1Codec>> codec_stats;
  std::shared_ptr<stats::Block<stats::Http2Codec>> http2_stats;
  std::vector<std::shared_ptr<access_log::AccessLog>> access_logs;
  // Whether one of them speaks of the request's head, or of the answer's.
  bool logs_request_head = false;
  bool logs_response_head = false;
  // Those before the router, and which of them are on where a route says nothing: a bit for each.
  std::vector<std::shared_ptr<const filters::HttpFilterConfig>> filters;
  uint64_t filters_on = 0;
  // Those of them that requests pass which ask for no upgrade, or for one without its own chain.
  uint64_t chain = 0;
  struct Upgrade {
    // In lower case.
    std::string name;
    bool is_enabled;
    uint64_t chain;
  };
  std::vector<Upgrade> upgrades;

  // What its clients' connections speak.
  bool isTls() const { return net::isTls(transport); }
  std::string_view ownScheme() const { return isTls() ? "https" : "http"; }
  // Null: nothing is said of it.
  const Upgrade* findUpgrade(std::string_view name) const;
  void setAccessLogs(std::vector<std::shared_ptr<access_log::AccessLog>> logs);
  bool isInternal(const net::Address& address) const {
    for (const net::Cidr& range : internal_addresses) {
      if (range.contains(address)) return true;
    }
    return false;
  }
};

}  // namespace fairlead::proxy
