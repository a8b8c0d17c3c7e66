#include "filters/http/basic_auth.h"

#include <optional>
#include <string>
#include <vector>

#include "base/base64.h"
#include "base/json.h"
#include "http/message.h"
#include "stats/scopes.h"
#include "tls/sha1.h"

namespace fairlead::filters {

namespace {

using BasicAuthCounter = stats::HttpBasicAuth::Counter;

constexpr std::string_view kScheme = "Basic ";

// Of one request.
class BasicAuth final : public HttpFilter {
 public:
  BasicAuth(const BasicAuthConfig& config, const BasicAuthUsers& users, FilterMemory& memory,
            const FilterScope& scope)
      : config_(config), users_(users), memory_(memory), scope_(scope) {}

  FilterStatus onRequestHead(http::RequestHead& head, const route::RequestView& view,
                             bool) override {
    const http::HeaderEntry* credentials = config_.credentials().find(head.headers);
    const bool is_basic = credentials && credentials->value().starts_with(kScheme);
    if (!is_basic && config_.allowsMissing()) return FilterStatus::Continue;
    if (!credentials) {
      return refuse(view, "User authentication failed. Missing username and password.",
                    "no_credential_for_basic_auth");
    }
    if (!is_basic) {
      return refuse(view, "User authentication failed. Expected 'Basic' authentication scheme.",
                    "invalid_scheme_for_basic_auth");
    }
    std::string coded(credentials->value().substr(kScheme.size()));
    // Padding may be left out.
    while (coded.size() % 4 != 0) coded.push_back('=');
    std::string pair;
    const bool is_base64 = decodeBase64(coded, &pair);
    const size_t colon = pair.find(':');
    if (!is_base64 || colon == std::string::npos) {
      return refuse(view, "User authentication failed. Invalid basic credential format.",
                    "invalid_format_for_basic_auth");
    }
    const std::string_view name = std::string_view(pair).substr(0, colon);
    if (!users_.admits(name, std::string_view(pair).substr(colon + 1))) {
      return refuse(view, "User authentication failed. Invalid username/password combination.",
                    "invalid_credential_for_basic_auth");
    }
    if (!config_.forwarded().empty()) tellName(name, head.headers);
    if (!config_.metadataName().empty()) tellMetadata(name);
    config_.stats(scope_.worker).add(BasicAuthCounter::Allowed);
    return FilterStatus::Continue;
  }

  LocalReply answer() const override { return {401, reason_, details_}; }

  FilterStatus onResponseHead(uint16_t, http::HeaderMap& headers, bool, Arena&) override {
    if (!challenge_.empty()) headers.add(http::HeaderId::Other, "www-authenticate", challenge_);
    return FilterStatus::Continue;
  }

 private:
  FilterStatus refuse(const route::RequestView& view, std::string_view reason,
                      std::string_view details) {
    config_.stats(scope_.worker).add(BasicAuthCounter::Denied);
    std::string realm = users_.realm().empty() ? config_.users().realm() : users_.realm();
    if (realm.empty()) {
      realm.append(view.scheme).append("://").append(view.authority).append(view.path);
    }
    challenge_ = memory_.keep("Basic realm=\"" + realm + "\"");
    reason_ = reason;
    details_ = details;
    return FilterStatus::Answer;
  }

  void tellMetadata(std::string_view name) {
    std::string json = "{\"username\":";
    appendJsonString(&json, name);
    metadata_.emplace(std::vector<plan::MetadataValue>{{"", json + "}", true},
                                                       {"username", std::string(name), false}});
    scope_.notes.metadata.push_back({config_.metadataName(), &*metadata_});
  }

  // What the client itself says of it is nobody's to believe.
  void tellName(std::string_view name, http::HeaderMap& headers) {
    const format::HeaderName& header = config_.forwarded();
    for (http::HeaderEntry& entry : headers) {
      if (header.names(entry)) entry.remove();
    }
    headers.add(http::internHeader(header.text()), header.text(), memory_.keep(name));
  }

  const BasicAuthConfig& config_;
  const BasicAuthUsers& users_;
  FilterMemory& memory_;
  const FilterScope& scope_;
  std::optional<format::FilterMetadata> metadata_;
  // Of a request that is refused.
  std::string_view challenge_;
  std::string_view reason_;
  std::string_view details_;
};

}  // namespace

bool BasicAuthUsers::admits(std::string_view name, std::string_view password) const {
  const auto found = hashes_.find(name);
  return found != hashes_.end() && tls::isSha1Of(password, found->second);
}

BasicAuthConfig::BasicAuthConfig(const plan::BasicAuth& plan, const ConfigScope& scope)
    : users_(plan.users.value_or(plan::BasicAuthUsers())),
      credentials_(plan.authentication_header),
      forwarded_(plan.forward_username_header),
      allows_missing_(plan.allow_missing),
      metadata_name_(plan.metadata_name),
      stats_(scope.registry.create<stats::HttpBasicAuth>(innerScope(scope.stats, "basic_auth."))) {}

HttpFilter* BasicAuthConfig::make(FilterMemory& memory, const FilterScope& scope,
                                  FilterPlace& place) const {
  const BasicAuthUsers* users = &users_;
  const route::FilterConfigList own = place.routeConfigs();
  if (!own.empty() && BasicAuthUsers::of(own.front())) users = BasicAuthUsers::of(own.front());
  return memory.make<BasicAuth>(*this, *users, memory, scope);
}

}  // namespace fairlead::filters
