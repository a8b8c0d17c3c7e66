// envoy.filters.http.basic_auth: names and passwords (RFC 7617), by hashes of the kind {SHA}.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "filters/http/http_filter.h"
#include "format/header_name.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"

namespace fairlead::filters {

// Of the filter, or of a route in its place.
class BasicAuthUsers final : public route::FilterConfig {
 public:
  explicit BasicAuthUsers(const plan::BasicAuthUsers& plan) : realm_(plan.realm) {
    for (const plan::BasicAuthUser& user : plan.users) hashes_.emplace(user.name, user.hash);
  }
  static const BasicAuthUsers* of(const route::FilterConfig* config) {
    return config->kind() == &kKind ? static_cast<const BasicAuthUsers*>(config) : nullptr;
  }
  const void* kind() const override { return &kKind; }

  bool admits(std::string_view name, std::string_view password) const;
  // Empty: of a route, the filter's; of that one, the request's URL.
  const std::string& realm() const { return realm_; }

 private:
  static constexpr char kKind = 0;

  // By name.
  std::map<std::string, std::string, std::less<>> hashes_;
  const std::string realm_;
};

class BasicAuthConfig final : public HttpFilterConfig {
 public:
  BasicAuthConfig(const plan::BasicAuth& plan, const ConfigScope& scope);

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

  stats::Shard<stats::HttpBasicAuth>& stats(unsigned worker) const {
    return *stats_->shard(worker + 1);
  }
  const BasicAuthUsers& users() const { return users_; }
  // Where credentials are; where hosts hear the name (empty: nowhere).
  const format::HeaderName& credentials() const { return credentials_; }
  const format::HeaderName& forwarded() const { return forwarded_; }
  bool allowsMissing() const { return allows_missing_; }
  // Empty: who it is, is no metadata.
  const std::string& metadataName() const { return metadata_name_; }

 private:
  const BasicAuthUsers users_;
  const format::HeaderName credentials_;
  const format::HeaderName forwarded_;
  const bool allows_missing_;
  const std::string metadata_name_;
  const std::shared_ptr<stats::Block<stats::HttpBasicAuth>> stats_;
};

}  // namespace fairlead::filters
