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
#include "proxy/client_cert_header.h"
#include "proxy/filter_list.h"
#include "proxy/local_replies.h"
#include "route/header_mutations.h"
#include "stats/registry.h"
#include "tracing/tracing.h"

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
  // What `codec` points to; empty: it points to nothing.
  std::vector<match::StringMatcher> ignored_upgrades;
  // Null: how routes are found is not recorded.
  std::shared_ptr<stats::Block<stats::HttpRouteResolution>> route_stats;
  // How long more than that may wait for a client to read it; 0: for ever.
  uint64_t slow_timeout_ms = 0;
  std::string filter_chain_name;
  // What the configuration says of its listener and its filter chain, for formats.
  Boxed<plan::Metadata> listener_metadata;
  Boxed<plan::Metadata> chain_metadata;
  std::vector<net::Cidr> internal_addresses;
  // Null: nothing is traced.
  std::shared_ptr<const tracing::Tracing> tracing;
  // Who clients are, as headers say. Empty: as the connection manager itself finds out.
  struct IpDetection {
    plan::IpDetection plan;
    format::HeaderName header;
    std::vector<net::Cidr> trusted;
  };
  std::vector<IpDetection> ip_detections;
  // Made to requests before anything else is.
  route::HeaderChanges early_changes;
  // What becomes of x-forwarded-client-cert, by requests; null: what the plan says.
  std::unique_ptr<const ClientCertTree> client_cert_tree;
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
  // Null: answers of the proxy's own stay as they are.
  std::shared_ptr<const LocalReplies> local_replies;
  // The filters' names, in the order of `filters`.
  std::vector<std::string> filter_names;
  // Of each try at a host.
  std::vector<std::shared_ptr<access_log::AccessLog>> upstream_logs;
  // Of clusters that have none of their own: what each try passes behind the router.
  FilterList upstream_filters;
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
    if (!address.isIp()) return plan.internal_pipes;
    for (const net::Cidr& range : internal_addresses) {
      if (range.contains(address)) return true;
    }
    return false;
  }
};

}  // namespace fairlead::proxy
