// envoy.filters.http.set_metadata: every request has this metadata.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "filters/http/http_filter.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"

namespace fairlead::filters {

class SetMetadataConfig final : public HttpFilterConfig {
 public:
  SetMetadataConfig(const plan::SetMetadata& plan, const ConfigScope& scope);

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

  const std::vector<plan::SetMetadataEntry>& entries() const { return entries_; }
  void countDenied(unsigned worker) const {
    stats_->shard(worker + 1)->add(stats::HttpSetMetadata::Counter::OverwriteDenied);
  }

 private:
  const std::vector<plan::SetMetadataEntry> entries_;
  const std::shared_ptr<stats::Block<stats::HttpSetMetadata>> stats_;
};

}  // namespace fairlead::filters
