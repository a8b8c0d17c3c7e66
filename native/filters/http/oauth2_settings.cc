#include "filters/http/oauth2_settings.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "stats/scopes.h"

namespace fairlead::filters {

namespace {

constexpr std::string_view kSchemeMark = "://";

RuntimeNumber runtimeOf(const Boxed<plan::RuntimeNumber>& plan, RuntimeSlots& slots) {
  return plan ? RuntimeNumber(plan->value, plan->slot, &slots) : RuntimeNumber(0, 0, nullptr);
}

Result<std::vector<route::HeaderMatch>> headerMatchesOf(
    const std::vector<plan::HeaderMatch>& plans) {
  std::vector<route::HeaderMatch> matches;
  for (const plan::HeaderMatch& plan : plans) {
    Result<route::HeaderMatch> match = route::HeaderMatch::build(plan);
    if (!match) return match.error();
    matches.push_back(std::move(match.value()));
  }
  return matches;
}

// "user@host:port"
std::string_view authorityOfUrl(std::string_view url) {
  url.remove_prefix(std::min(url.size(), url.find(kSchemeMark) + kSchemeMark.size()));
  return url.substr(0, url.find_first_of("/?#"));
}

// Without user, port and the brackets of IPv6 addresses.
std::string_view hostOfUrl(std::string_view url) {
  std::string_view host = authorityOfUrl(url);
  if (const size_t at = host.rfind('@'); at != std::string_view::npos) host.remove_prefix(at + 1);
  if (host.starts_with('[')) return host.substr(1, host.find(']') - 1);
  return host.substr(0, host.find(':'));
}

}  // namespace

bool isWholeUrl(std::string_view url) {
  const size_t mark = url.find(kSchemeMark);
  if (mark == std::string_view::npos || mark == 0) return false;
  const auto isLetter = [](char c) { return lowerAscii(c) >= 'a' && lowerAscii(c) <= 'z'; };
  if (!std::ranges::all_of(url.substr(0, mark), isLetter)) return false;
  if (!std::ranges::all_of(url, [](char c) { return c > 0x20 && c < 0x7f; })) return false;
  return !hostOfUrl(url).empty();
}

std::string_view pathOfUrl(std::string_view url) {
  if (!isWholeUrl(url)) return {};
  const size_t start = url.find(kSchemeMark) + kSchemeMark.size();
  const size_t path = url.find_first_of("/?#", start);
  return path == std::string_view::npos ? std::string_view("/") : url.substr(path);
}

bool OAuth2Settings::fitsOne(const std::vector<route::HeaderMatch>& matchers,
                             const route::RequestView& view) {
  return std::ranges::any_of(matchers, [&](const auto& one) { return one.matches(view); });
}

bool OAuth2Settings::isAllowedUrl(std::string_view url) const {
  if (plan.allowed_redirect_domains.empty()) return true;
  if (!isWholeUrl(url)) return false;
  const std::string_view host = hostOfUrl(url);
  return std::ranges::any_of(plan.allowed_redirect_domains, [host](const std::string& domain) {
    if (!domain.starts_with("*.")) return equalsIgnoreCase(host, domain);
    const std::string_view suffix = std::string_view(domain).substr(1);
    return host.size() > suffix.size() && host.ends_with(suffix);
  });
}

Result<void> OAuth2Settings::buildMatchers() {
  for (const auto& [plans, matchers] : {std::pair{&plan.pass_through, &pass_through_},
                                        std::pair{&plan.deny_redirect, &deny_redirect_},
                                        std::pair{&plan.allow_failed, &allow_failed_}}) {
    auto built = headerMatchesOf(*plans);
    if (!built) return built.error();
    *matchers = std::move(built.value());
  }
  for (const auto& [one, matcher] : {std::pair{&plan.redirect_path, &redirect_path_},
                                     std::pair{&plan.signout_path, &signout_path_}}) {
    auto built = match::StringMatcher::build((*one).value_or(plan::StringMatch()));
    if (!built) return built.error();
    *matcher = std::move(built.value());
  }
  return {};
}

Result<std::unique_ptr<const OAuth2Settings>> OAuth2Settings::build(const plan::OAuth2& plan,
                                                                    const RouteScope& scope,
                                                                    const stats::Scope& stats) {
  auto settings = std::make_unique<OAuth2Settings>();
  settings->plan = plan;
  if (const Result<void> built = settings->buildMatchers(); !built) return built.error();
  auto service = calls::Service::build(plan.token_service.value_or(plan::Service()), scope.clusters,
                                       &scope.registry);
  if (!service) return service.error();
  settings->service = std::move(service.value());
  for (const plan::TextPair& pair : plan.authorization_query) {
    settings->authorization_query.add(pair.key, pair.value);
  }
  settings->redirect_uri = format::Format(plan.redirect_uri.value_or(plan::Format()));
  if (plan.original_request_uri) {
    settings->original_request_uri.emplace(*plan.original_request_uri);
  }
  if (plan.post_logout_redirect_uri) {
    settings->post_logout_redirect_uri.emplace(*plan.post_logout_redirect_uri);
  }
  if (!plan.cookie_domain.empty()) settings->cookie_domain = ";domain=" + plan.cookie_domain;
  settings->token_secret_ =
      scope.live.secrets.of(plan.token_secret.value_or(plan::Secret()), scope.workers);
  settings->hmac_secret_ =
      scope.live.secrets.of(plan.hmac_secret.value_or(plan::Secret()), scope.workers);
  for (Boxed<plan::OAuth2Cookie>* const cookie : settings->cookies()) {
    if (!*cookie) cookie->emplace();
  }
  settings->encrypts_by_gcm_ = runtimeOf(plan.encrypts_by_gcm, scope.slots);
  settings->reads_cbc_ = runtimeOf(plan.reads_cbc, scope.slots);
  std::string prefix = plan.stat_prefix;
  if (!prefix.empty() && !prefix.ends_with('.')) prefix.push_back('.');
  settings->stats_ = scope.registry.create<stats::HttpOAuth2>(stats::innerScope(stats, prefix));
  return std::unique_ptr<const OAuth2Settings>(std::move(settings));
}

}  // namespace fairlead::filters
