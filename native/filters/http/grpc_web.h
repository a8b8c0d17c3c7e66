// envoy.filters.http.grpc_web: calls of browsers (application/grpc-web), in binary or in base64, as
// gRPC for hosts; what hosts say in trailers ends the body of the answer.
#pragma once

#include <memory>

#include "filters/http/grpc_calls.h"
#include "filters/http/http_filter.h"

namespace fairlead::filters {

class GrpcWebConfig final : public HttpFilterConfig {
 public:
  static BuiltFilter build(const ConfigScope& scope);

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

 private:
  std::shared_ptr<GrpcCalls> calls_;
};

}  // namespace fairlead::filters
