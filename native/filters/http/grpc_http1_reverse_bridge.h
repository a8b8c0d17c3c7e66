// envoy.filters.http.grpc_http1_reverse_bridge: calls of gRPC for hosts that speak plain HTTP:
// another content type, with or without the frame around the message, and the status in trailers
// that the host does not know.
#pragma once

#include "filters/http/http_filter.h"

namespace fairlead::filters {

// Of a route, a virtual host, a table or a weighted cluster.
class GrpcReverseBridgeSettings final : public route::FilterConfig {
 public:
  explicit GrpcReverseBridgeSettings(const plan::GrpcReverseBridgeSettings& settings)
      : plan(settings) {}
  static const GrpcReverseBridgeSettings* of(const route::FilterConfig* config) {
    return config->kind() == &kKind ? static_cast<const GrpcReverseBridgeSettings*>(config)
                                    : nullptr;
  }
  const void* kind() const override { return &kKind; }

  const plan::GrpcReverseBridgeSettings plan;

 private:
  static constexpr char kKind = 0;
};

class GrpcReverseBridgeConfig final : public HttpFilterConfig {
 public:
  explicit GrpcReverseBridgeConfig(const plan::GrpcReverseBridge& plan) : plan_(plan) {}

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

 private:
  const plan::GrpcReverseBridge plan_;
};

}  // namespace fairlead::filters
