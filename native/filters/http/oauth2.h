// envoy.filters.http.oauth2: clients log in at a provider (RFC 6749, with PKCE), and cookies know
// them from then on. A request without them is sent to the provider, whose answer, a request again,
// is exchanged for tokens at its token endpoint; tokens that are too old are exchanged likewise.
#pragma once

#include <memory>

#include "filters/http/http_filter.h"
#include "filters/http/oauth2_settings.h"

namespace fairlead::filters {

class OAuth2Config final : public HttpFilterConfig {
 public:
  static BuiltFilter build(const plan::OAuth2& plan, const ConfigScope& scope);

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

 private:
  // Null: only routes have any.
  std::unique_ptr<const OAuth2Settings> settings_;
};

}  // namespace fairlead::filters
