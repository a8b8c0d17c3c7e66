// envoy.filters.http.dynamic_forward_proxy: the host that a request names is looked up before it
// goes on to a cluster of such hosts.
#pragma once

#include <memory>
#include <string>

#include "filters/http/http_filter.h"
#include "plan/plan.gen.h"
#include "upstream/name_cache.h"

namespace fairlead::filters {

// Of a route: what is named in place of what the request does.
class NameRewrite final : public route::FilterConfig {
 public:
  explicit NameRewrite(const plan::NameRewrite& plan) : plan_(plan) {}
  static const NameRewrite* of(const route::FilterConfig* config) {
    return config->kind() == &kKind ? static_cast<const NameRewrite*>(config) : nullptr;
  }
  const void* kind() const override { return &kKind; }
  void apply(http::RequestHead& head) const;

 private:
  static constexpr char kKind = 0;
  const plan::NameRewrite plan_;
};

class DynamicForwardProxyConfig final : public HttpFilterConfig {
 public:
  static BuiltFilter build(const plan::NameLookup& plan, const ConfigScope& scope);

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

  const plan::NameLookup& plan() const { return plan_; }
  // Of hosts.
  upstream::NameCache& cache() const { return *cache_; }

 private:
  plan::NameLookup plan_;
  std::shared_ptr<upstream::NameCache> cache_;
};

}  // namespace fairlead::filters
