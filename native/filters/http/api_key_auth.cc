#include "filters/http/api_key_auth.h"

#include <algorithm>

#include "http/cookies.h"
#include "http/query.h"
#include "stats/scopes.h"

namespace fairlead::filters {

namespace {

using ApiKeyCounter = stats::HttpApiKeyAuth::Counter;
using ApiKeySource = ApiKeySettings::Source;

constexpr std::string_view kBearer = "Bearer ";

// Empty: it is not there.
std::string keyIn(const ApiKeySource& source, const http::RequestHead& head) {
  if (!source.header.empty()) {
    const http::HeaderEntry* const entry = source.header.find(head.headers);
    if (!entry) return {};
    std::string_view value = entry->value();
    if (value.starts_with(kBearer)) value.remove_prefix(kBearer.size());
    return std::string(value);
  }
  if (!source.query.empty()) {
    const http::Query query = http::Query::of(head.path, http::Query::Decoding::Percent);
    return std::string(query.find(source.query).value_or(std::string_view()));
  }
  return std::string(http::cookieOf(head.headers, source.cookie));
}

// The header without that cookie, in the arena; empty: nothing is left of it.
std::string_view withoutCookie(std::string_view value, std::string_view name, Arena& arena) {
  std::string kept;
  while (!value.empty()) {
    const std::string_view pair = value.substr(0, value.find(';'));
    value.remove_prefix(std::min(value.size(), pair.size() + 1));
    const size_t start = std::min(pair.find_first_not_of(' '), pair.size());
    const std::string_view cookie = pair.substr(start);
    if (cookie.empty() || cookie.substr(0, cookie.find('=')) == name) continue;
    if (!kept.empty()) kept.append("; ");
    kept.append(cookie);
  }
  return arena.copy(kept);
}

// Of one request.
class ApiKeyAuth final : public HttpFilter {
 public:
  ApiKeyAuth(const ApiKeyAuthConfig& config, const ApiKeySettings* route, FilterMemory& memory,
             const FilterScope& scope)
      : config_(config), route_(route), memory_(memory), scope_(scope) {}

  FilterStatus onRequestHead(http::RequestHead& head, const route::RequestView&, bool) override {
    const ApiKeySettings& own = config_.settings();
    const auto& sources = route_ && !route_->sources.empty() ? route_->sources : own.sources;
    const auto& clients = route_ && !route_->clients.empty() ? route_->clients : own.clients;
    const auto& forwarding = route_ ? route_->forwarding : own.forwarding;
    if (sources.empty()) return refuse("missing_key_sources");
    if (clients.empty()) return refuse("missing_credentials");
    std::string key;
    for (const ApiKeySource& source : sources) {
      key = keyIn(source, head);
      if (!key.empty()) break;
    }
    if (key.empty()) return refuse("missing_api_key");
    const auto client = clients.find(key);
    if (client == clients.end()) return refuse("unknown_api_key");
    if (route_ && !route_->allowed.empty() && !route_->allowed.contains(client->second)) {
      config_.stats(scope_.worker).add(ApiKeyCounter::Forbidden);
      reply_ = {403, "Client is forbidden.", "client_not_allowed"};
      return FilterStatus::Answer;
    }
    if (forwarding) {
      if (!forwarding->header.empty()) tellClient(forwarding->header, client->second, head.headers);
      if (forwarding->hides_key) {
        for (const ApiKeySource& source : sources) hide(source, head);
      }
    }
    config_.stats(scope_.worker).add(ApiKeyCounter::Allowed);
    return FilterStatus::Continue;
  }

  LocalReply answer() const override { return reply_; }

 private:
  FilterStatus refuse(std::string_view details) {
    config_.stats(scope_.worker).add(ApiKeyCounter::Unauthorized);
    reply_ = {401, "Client authentication failed.", details};
    return FilterStatus::Answer;
  }

  static void removeHeader(const format::HeaderName& name, http::HeaderMap& headers) {
    for (http::HeaderEntry& entry : headers) {
      if (name.names(entry)) entry.remove();
    }
  }

  static void tellClient(const format::HeaderName& name, const std::string& client,
                         http::HeaderMap& headers) {
    removeHeader(name, headers);
    headers.add(http::internHeader(name.text()), name.text(), client);
  }

  void hide(const ApiKeySource& source, http::RequestHead& head) {
    if (!source.header.empty()) {
      removeHeader(source.header, head.headers);
    } else if (!source.query.empty()) {
      head.path = memory_.keep(http::Query::without(head.path, source.query));
    } else {
      for (http::HeaderEntry& entry : head.headers) {
        if (entry.id != http::HeaderId::Cookie) continue;
        const std::string_view rest = withoutCookie(entry.value(), source.cookie, memory_.arena());
        if (rest.empty()) {
          entry.remove();
        } else {
          entry.setValue(rest);
        }
      }
    }
  }

  const ApiKeyAuthConfig& config_;
  // Null: it says nothing.
  const ApiKeySettings* const route_;
  FilterMemory& memory_;
  const FilterScope& scope_;
  LocalReply reply_{401, {}, {}};
};

}  // namespace

ApiKeySettings::ApiKeySettings(const plan::ApiKeyAuth& plan)
    : allowed(plan.allowed_clients.begin(), plan.allowed_clients.end()) {
  for (const plan::ApiKey& key : plan.keys) clients.emplace(key.key, key.client);
  for (const plan::ApiKeySource& source : plan.sources) {
    sources.push_back({format::HeaderName(source.header), source.query, source.cookie});
  }
  if (plan.forwarding) {
    forwarding = {format::HeaderName(plan.forwarding->header), plan.forwarding->hides_key};
  }
}

ApiKeyAuthConfig::ApiKeyAuthConfig(const plan::ApiKeyAuth& plan, const ConfigScope& scope)
    : settings_(plan),
      stats_(
          scope.registry.create<stats::HttpApiKeyAuth>(innerScope(scope.stats, "api_key_auth."))) {}

HttpFilter* ApiKeyAuthConfig::make(FilterMemory& memory, const FilterScope& scope,
                                   FilterPlace& place) const {
  const route::FilterConfigList own = place.routeConfigs();
  return memory.make<ApiKeyAuth>(*this, own.empty() ? nullptr : ApiKeySettings::of(own.front()),
                                 memory, scope);
}

}  // namespace fairlead::filters
