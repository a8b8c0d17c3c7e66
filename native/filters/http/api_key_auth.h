// envoy.filters.http.api_key_auth: whose key a request has, and whether that client may come in
// here. What a route says takes the place of what the filter says, part by part.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "filters/http/http_filter.h"
#include "format/header_name.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"

namespace fairlead::filters {

// Of the filter, or of a route.
class ApiKeySettings final : public route::FilterConfig {
 public:
  explicit ApiKeySettings(const plan::ApiKeyAuth& plan);
  static const ApiKeySettings* of(const route::FilterConfig* config) {
    return config->kind() == &kKind ? static_cast<const ApiKeySettings*>(config) : nullptr;
  }
  const void* kind() const override { return &kKind; }

  struct Source {
    format::HeaderName header;
    std::string query;
    std::string cookie;
  };
  // Clients by their keys; none: it does not say.
  std::map<std::string, std::string, std::less<>> clients;
  std::vector<Source> sources;
  struct Forwarding {
    format::HeaderName header;
    bool hides_key;
  };
  std::optional<Forwarding> forwarding;
  // None: all.
  std::set<std::string, std::less<>> allowed;

 private:
  static constexpr char kKind = 0;
};

class ApiKeyAuthConfig final : public HttpFilterConfig {
 public:
  ApiKeyAuthConfig(const plan::ApiKeyAuth& plan, const ConfigScope& scope);

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

  const ApiKeySettings& settings() const { return settings_; }
  stats::Shard<stats::HttpApiKeyAuth>& stats(unsigned worker) const {
    return *stats_->shard(worker + 1);
  }

 private:
  const ApiKeySettings settings_;
  const std::shared_ptr<stats::Block<stats::HttpApiKeyAuth>> stats_;
};

}  // namespace fairlead::filters
