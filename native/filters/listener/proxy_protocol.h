// envoy.filters.listener.proxy_protocol: takes the header off that a proxy before us put in front
// of a connection's bytes, and lets the connection pass for the client's own.
#pragma once

#include <array>

#include "filters/listener/proxy_header.h"
#include "net/listener_filter.h"
#include "stats/registry.h"

namespace fairlead::filters {

class ProxyProtocolConfig final : public net::ListenerFilterConfig {
 public:
  ProxyProtocolConfig(const plan::ProxyProtocol& plan, stats::Registry& registry);

  std::unique_ptr<net::ListenerFilter> make(unsigned worker) const override;

 private:
  friend class ProxyProtocol;
  using VersionStats = std::shared_ptr<stats::Block<stats::ProxyProtocolVersion>>;

  const plan::ProxyProtocol plan_;
  // What is kept of a value, by its type; null: nothing.
  std::array<const plan::TlvRule*, 256> rules_ = {};
  const std::shared_ptr<stats::Block<stats::ProxyProtocol>> stats_;
  const VersionStats v1_stats_;
  const VersionStats v2_stats_;
  const std::shared_ptr<stats::Block<stats::ProxyProtocolErrors>> errors_;
};

}  // namespace fairlead::filters
