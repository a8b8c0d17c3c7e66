// envoy.filters.listener.http_inspector: tells by a connection's first bytes which HTTP its client
// speaks, so that filter chains can ask for it.
#pragma once

#include "net/listener_filter.h"
#include "stats/registry.h"

namespace fairlead::filters {

class HttpInspectorConfig final : public net::ListenerFilterConfig {
 public:
  explicit HttpInspectorConfig(stats::Registry& registry)
      : stats_(registry.create<stats::HttpInspector>(stats::plainScope("http_inspector."))) {}

  std::unique_ptr<net::ListenerFilter> make(unsigned worker) const override;

 private:
  const std::shared_ptr<stats::Block<stats::HttpInspector>> stats_;
};

}  // namespace fairlead::filters
