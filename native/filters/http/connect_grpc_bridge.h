// envoy.filters.http.connect_grpc_bridge: calls of the Connect protocol, of one message (by POST or
// GET) and streams, as gRPC for hosts.
#pragma once

#include "filters/http/http_filter.h"

namespace fairlead::filters {

class ConnectGrpcBridgeConfig final : public HttpFilterConfig {
 public:
  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;
};

}  // namespace fairlead::filters
