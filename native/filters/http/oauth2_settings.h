// What envoy.filters.http.oauth2 is told: by its own configuration, or by a route in its place.
// Shared by all workers; immutable but for statistics and secrets.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/runtime_slots.h"
#include "calls/service.h"
#include "filters/http/http_filter.h"
#include "filters/http/live_value.h"
#include "format/format.h"
#include "http/query.h"
#include "match/string_matcher.h"
#include "plan/plan.gen.h"
#include "route/header_match.h"
#include "stats/registry.h"

namespace fairlead::filters {

class OAuth2Settings final : public route::FilterConfig {
 public:
  using Counter = stats::HttpOAuth2::Counter;

  // `scope`: what names of statistics begin with.
  static Result<std::unique_ptr<const OAuth2Settings>> build(const plan::OAuth2& plan,
                                                             const RouteScope& scope,
                                                             const stats::Scope& stats);
  static const OAuth2Settings* of(const route::FilterConfig* config) {
    return config->kind() == &kKind ? static_cast<const OAuth2Settings*>(config) : nullptr;
  }
  const void* kind() const override { return &kKind; }

  void count(unsigned worker, Counter counter) const { stats_->shard(worker + 1)->add(counter); }

  const std::string& tokenSecret(unsigned worker) const { return token_secret_->of(worker).value; }
  const std::string& hmacSecret(unsigned worker) const { return hmac_secret_->of(worker).value; }
  bool hasSecrets(unsigned worker) const {
    return !hmacSecret(worker).empty() &&
           (plan.auth_type == plan::OAuth2::AuthType::TlsClientAuth ||
            !tokenSecret(worker).empty());
  }

  bool passes(const route::RequestView& view) const { return fitsOne(pass_through_, view); }
  bool deniesRedirect(const route::RequestView& view) const {
    return fitsOne(deny_redirect_, view);
  }
  bool allowsFailed(const route::RequestView& view) const { return fitsOne(allow_failed_, view); }
  bool isRedirectPath(std::string_view path) const {
    return redirect_path_->matches(route::withoutQuery(path));
  }
  bool isSignoutPath(std::string_view path) const {
    return signout_path_->matches(route::withoutQuery(path));
  }
  // Whether clients may be sent to that URL.
  bool isAllowedUrl(std::string_view url) const;

  bool encryptsByGcm() const { return encrypts_by_gcm_.value() > 0; }
  bool readsCbc() const { return reads_cbc_.value() > 0; }

  // All its cookies are there.
  plan::OAuth2 plan;
  std::unique_ptr<const calls::Service> service;
  http::Query authorization_query;
  format::Format redirect_uri;
  // Absent: the request's scheme and host.
  std::optional<format::Format> original_request_uri;
  std::optional<format::Format> post_logout_redirect_uri;
  // ";domain=…", or nothing.
  std::string cookie_domain;

 private:
  static bool fitsOne(const std::vector<route::HeaderMatch>& matchers,
                      const route::RequestView& view);
  Result<void> buildMatchers();
  std::array<Boxed<plan::OAuth2Cookie>*, 7> cookies() {
    return {&plan.bearer_token,  &plan.hmac,  &plan.expires,      &plan.id_token,
            &plan.refresh_token, &plan.nonce, &plan.code_verifier};
  }

  static constexpr char kKind = 0;

  std::shared_ptr<LiveSecret> token_secret_;
  std::shared_ptr<LiveSecret> hmac_secret_;
  std::vector<route::HeaderMatch> pass_through_;
  std::vector<route::HeaderMatch> deny_redirect_;
  std::vector<route::HeaderMatch> allow_failed_;
  std::optional<match::StringMatcher> redirect_path_;
  std::optional<match::StringMatcher> signout_path_;
  RuntimeNumber encrypts_by_gcm_;
  RuntimeNumber reads_cbc_;
  std::shared_ptr<stats::Block<stats::HttpOAuth2>> stats_;
};

// Whether a text is a URL with a scheme and a host.
bool isWholeUrl(std::string_view url);
// Its path and what follows, where it is one.
std::string_view pathOfUrl(std::string_view url);

}  // namespace fairlead::filters
