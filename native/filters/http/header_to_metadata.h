// envoy.filters.http.header_to_metadata: values of headers and cookies become metadata of the
// request. What a route says takes the place of what the filter says.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/regex.h"
#include "base/result.h"
#include "filters/http/http_filter.h"
#include "format/header_name.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"

namespace fairlead::filters {

// Of the filter, or of a route.
class HeaderToMetadataRules final : public route::FilterConfig {
 public:
  struct Rule {
    plan::MetadataRule plan;
    format::HeaderName header;
    // Of what is there.
    std::optional<Regex> rewrite;
  };

  static Result<std::unique_ptr<const HeaderToMetadataRules>> build(
      const plan::HeaderToMetadata& plan, stats::Registry& registry);
  static const HeaderToMetadataRules* of(const route::FilterConfig* config) {
    return config->kind() == &kKind ? static_cast<const HeaderToMetadataRules*>(config) : nullptr;
  }
  const void* kind() const override { return &kKind; }

  std::vector<Rule> request;
  std::vector<Rule> response;
  // Null: nothing is counted.
  std::shared_ptr<stats::Block<stats::HttpHeaderToMetadata>> stats;

 private:
  static constexpr char kKind = 0;
};

class HeaderToMetadataConfig final : public HttpFilterConfig {
 public:
  static BuiltFilter build(const plan::HeaderToMetadata& plan, const ConfigScope& scope);

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

 private:
  std::unique_ptr<const HeaderToMetadataRules> rules_;
};

}  // namespace fairlead::filters
