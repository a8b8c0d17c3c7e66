// envoy.filters.http.grpc_json_transcoder: requests in JSON as calls of gRPC, by the rules of
// google.api.http, and what is answered as JSON. What is transcoded, and how, is in
// filters/transcoder.
#pragma once

#include <memory>

#include "filters/http/http_filter.h"
#include "filters/transcoder/service.h"

namespace fairlead::filters {

// Of a route, a virtual host, a table or a weighted cluster: in place of the filter's own.
class TranscoderSettings final : public route::FilterConfig {
 public:
  static Result<std::unique_ptr<const route::FilterConfig>> build(
      const plan::GrpcJsonTranscoder& plan);
  static const TranscoderSettings* of(const route::FilterConfig* config) {
    return config->kind() == &kKind ? static_cast<const TranscoderSettings*>(config) : nullptr;
  }
  const void* kind() const override { return &kKind; }

  std::unique_ptr<const transcoder::Service> service;

 private:
  static constexpr char kKind = 0;
};

class GrpcJsonTranscoderConfig final : public HttpFilterConfig {
 public:
  static BuiltFilter build(const plan::GrpcJsonTranscoder& plan, const ConfigScope& scope);

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

 private:
  std::unique_ptr<const transcoder::Service> service_;
  std::shared_ptr<stats::Block<stats::HttpTranscoder>> stats_;
};

}  // namespace fairlead::filters
