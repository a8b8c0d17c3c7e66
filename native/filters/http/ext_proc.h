// envoy.filters.http.ext_proc: a service is told of requests and their answers, part by part over
// one stream of gRPC, or each by a request of HTTP, and says what is changed of each, or what
// clients are told instead. Routes turn it off, tell it other parts, or have another service asked.
#pragma once

#include <memory>

#include "filters/http/ext_proc_settings.h"
#include "filters/http/http_filter.h"

namespace fairlead::filters {

class ExtProcConfig final : public HttpFilterConfig {
 public:
  // `name`: as the configuration calls it.
  static BuiltFilter build(const std::string& name, const plan::ExtProc& plan,
                           const ConfigScope& scope);

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

 private:
  std::unique_ptr<const ExtProcSettings> settings_;
};

}  // namespace fairlead::filters
