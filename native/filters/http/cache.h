// envoy.filters.http.cache: answers requests with what hosts have answered before (RFC 9111), from
// a store that all workers share. As the real server has it, what it asks hosts it asks past the
// filters behind it and the router.
#pragma once

#include <memory>

#include "caches/cache_stores.h"
#include "filters/http/cache_fetch.h"
#include "filters/http/http_filter.h"

namespace fairlead::filters {

class CacheConfig final : public HttpFilterConfig {
 public:
  static BuiltFilter build(const plan::CacheFilter& plan, const ConfigScope& scope);

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

  const std::shared_ptr<const CacheFetch::Parts>& parts() const { return parts_; }
  const plan::CacheFilter& plan() const { return plan_; }
  caches::CacheWorker& worker(unsigned index) const { return stores_->worker(index); }

 private:
  plan::CacheFilter plan_;
  caches::CacheStores* stores_ = nullptr;
  // Null: it is off.
  std::shared_ptr<const CacheFetch::Parts> parts_;
};

}  // namespace fairlead::filters
