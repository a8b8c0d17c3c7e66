// envoy.filters.http.set_metadata: every request has this metadata, and then what the most specific
// of its route's levels says.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "filters/http/http_filter.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"

namespace fairlead::filters {

// What one level says.
class MetadataEntries final : public route::FilterConfig {
 public:
  explicit MetadataEntries(const plan::SetMetadata& plan) : entries(plan.entries) {}
  static const MetadataEntries* of(const route::FilterConfig* config) {
    return config->kind() == &kKind ? static_cast<const MetadataEntries*>(config) : nullptr;
  }
  const void* kind() const override { return &kKind; }

  const std::vector<plan::SetMetadataEntry> entries;

 private:
  static constexpr char kKind = 0;
};

class SetMetadataConfig final : public HttpFilterConfig {
 public:
  SetMetadataConfig(const plan::SetMetadata& plan, const ConfigScope& scope);

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

  const MetadataEntries& own() const { return own_; }
  void countDenied(unsigned worker) const {
    stats_->shard(worker + 1)->add(stats::HttpSetMetadata::Counter::OverwriteDenied);
  }

 private:
  const MetadataEntries own_;
  const std::shared_ptr<stats::Block<stats::HttpSetMetadata>> stats_;
};

}  // namespace fairlead::filters
