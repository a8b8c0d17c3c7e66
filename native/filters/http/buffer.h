// envoy.filters.http.buffer: holds a request until it is whole, and tells the host its length.
#pragma once

#include <memory>

#include "base/result.h"
#include "filters/http/http_filter.h"
#include "plan/plan.gen.h"

namespace fairlead::filters {

// Of a route, a virtual host, a table or a weighted cluster.
class BufferSettings final : public route::FilterConfig {
 public:
  explicit BufferSettings(const plan::BufferSettings& settings) : plan(settings) {}
  static const BufferSettings* of(const route::FilterConfig* config) {
    return config->kind() == &kKind ? static_cast<const BufferSettings*>(config) : nullptr;
  }
  const void* kind() const override { return &kKind; }

  const plan::BufferSettings plan;

 private:
  static constexpr char kKind = 0;
};

class BufferConfig final : public HttpFilterConfig {
 public:
  explicit BufferConfig(const plan::BufferSettings& settings) : settings_(settings) {}

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

 private:
  const BufferSettings settings_;
};

}  // namespace fairlead::filters
