// envoy.filters.http.stateful_session: requests of a session go to the host that its cookie or
// header names, and answers name the host that they come from.
#pragma once

#include <memory>

#include "filters/http/http_filter.h"
#include "format/header_name.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"

namespace fairlead::filters {

// Of the filter, or of a route.
class SessionSettings final : public route::FilterConfig {
 public:
  explicit SessionSettings(const plan::StatefulSession& of)
      : plan(of), header(of.header), envelope(of.envelope_header) {}
  static const SessionSettings* of(const route::FilterConfig* config) {
    return config->kind() == &kKind ? static_cast<const SessionSettings*>(config) : nullptr;
  }
  const void* kind() const override { return &kKind; }

  const plan::StatefulSession plan;
  const format::HeaderName header;
  const format::HeaderName envelope;

 private:
  static constexpr char kKind = 0;
};

class StatefulSessionConfig final : public HttpFilterConfig {
 public:
  StatefulSessionConfig(const plan::StatefulSession& plan, const ConfigScope& scope);

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

 private:
  const SessionSettings settings_;
  // Null: nothing is counted.
  std::shared_ptr<stats::Block<stats::HttpStatefulSession>> stats_;
};

}  // namespace fairlead::filters
