// envoy.filters.http.ext_authz: a service, asked over gRPC or HTTP, says of each request whether it
// may go on, what is changed of it and of its answer, or what its client is told instead. Routes
// turn it off, tell it more, or have another service asked.
#pragma once

#include <memory>

#include "filters/http/ext_authz_service.h"
#include "filters/http/http_filter.h"

namespace fairlead::filters {

class ExtAuthzConfig final : public HttpFilterConfig {
 public:
  // `name`: as the configuration calls it.
  static BuiltFilter build(const std::string& name, const plan::ExtAuthz& plan,
                           const ConfigScope& scope);

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

 private:
  std::unique_ptr<const ExtAuthzSettings> settings_;
};

}  // namespace fairlead::filters
