// envoy.filters.http.grpc_http1_bridge: unary calls of clients that know no trailers: the answer
// waits until they have come, and says in its head what they said.
#pragma once

#include "filters/http/http_filter.h"

namespace fairlead::filters {

class GrpcHttp1BridgeConfig final : public HttpFilterConfig {
 public:
  explicit GrpcHttp1BridgeConfig(const plan::GrpcHttp1Bridge& plan) : plan_(plan) {}

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

 private:
  const plan::GrpcHttp1Bridge plan_;
};

}  // namespace fairlead::filters
