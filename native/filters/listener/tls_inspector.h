// envoy.filters.listener.tls_inspector: whether a client speaks TLS, with whom it wants to speak,
// and what it offers, by the first message of its handshake.
#pragma once

#include "net/listener_filter.h"
#include "stats/registry.h"

namespace fairlead::filters {

class TlsInspectorConfig final : public net::ListenerFilterConfig {
 public:
  TlsInspectorConfig(const plan::TlsInspector& plan, stats::Registry& registry)
      : plan_(plan),
        stats_(registry.create<stats::TlsInspector>(stats::plainScope("tls_inspector."))) {}

  const plan::TlsInspector& plan() const { return plan_; }
  std::unique_ptr<net::ListenerFilter> make(unsigned worker) const override;

 private:
  const plan::TlsInspector plan_;
  const std::shared_ptr<stats::Block<stats::TlsInspector>> stats_;
};

}  // namespace fairlead::filters
