// envoy.filters.http.json_to_metadata: values of bodies in JSON become metadata of the request. A
// body that is looked at waits until it is whole.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/regex.h"
#include "base/result.h"
#include "filters/http/http_filter.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"

namespace fairlead::filters {

// Of the filter, or of a route.
class JsonRules final : public route::FilterConfig {
 public:
  struct Side {
    std::vector<plan::JsonMetadataRule> rules;
    std::vector<std::string> content_types;
    bool allows_no_content_type = false;
    std::optional<Regex> content_type_regex;

    static Result<Side> build(const Boxed<plan::JsonMetadataRules>& plan);
    bool isEmpty() const { return rules.empty(); }
    bool admits(std::string_view content_type) const;
  };

  static Result<std::unique_ptr<const JsonRules>> build(const plan::JsonToMetadata& plan);
  static const JsonRules* of(const route::FilterConfig* config) {
    return config->kind() == &kKind ? static_cast<const JsonRules*>(config) : nullptr;
  }
  const void* kind() const override { return &kKind; }

  Side request;
  Side response;

 private:
  static constexpr char kKind = 0;
};

class JsonToMetadataConfig final : public HttpFilterConfig {
 public:
  using Block = stats::Block<stats::HttpJsonToMetadata>;

  static BuiltFilter build(const plan::JsonToMetadata& plan, const ConfigScope& scope);

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

  Block& stats(bool is_request) const { return is_request ? *request_stats_ : *response_stats_; }

 private:
  std::unique_ptr<const JsonRules> rules_;
  std::shared_ptr<Block> request_stats_;
  std::shared_ptr<Block> response_stats_;
};

}  // namespace fairlead::filters
