#include "filters/jwt/extractor.h"

#include "http/cookies.h"
#include "http/query.h"

namespace fairlead::filters {

namespace {

// Of Base64url, and the dots between.
constexpr std::string_view kTokenCharacters =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";

// What follows the prefix, wherever that stands. False: it is not there.
bool afterPrefix(std::string_view prefix, std::string_view* value) {
  if (prefix.empty()) return true;
  const size_t at = value->find(prefix);
  if (at == std::string_view::npos) return false;
  const size_t start = value->find_first_of(kTokenCharacters, at + prefix.size());
  if (start != std::string_view::npos) value->remove_prefix(start);
  return true;
}

void removeHeader(const format::HeaderName& name, http::HeaderMap& headers) {
  for (http::HeaderEntry& entry : headers) {
    if (name.names(entry)) entry.remove();
  }
}

}  // namespace

void JwtExtractor::add(const plan::JwtProvider& provider) {
  for (const plan::JwtHeader& header : provider.from_headers) {
    Header& entry = headers_[header.name + header.prefix];
    entry.name = format::HeaderName(header.name);
    entry.prefix = header.prefix;
    entry.issuers.add(provider.issuer);
  }
  for (const std::string& name : provider.from_params) parameters_[name].add(provider.issuer);
  for (const std::string& name : provider.from_cookies) cookies_[name].add(provider.issuer);
  if (!provider.forward_payload_header.empty()) {
    own_.emplace_back(provider.forward_payload_header);
  }
  for (const plan::JwtClaimHeader& claim : provider.claim_headers) own_.emplace_back(claim.header);
}

std::vector<FoundToken> JwtExtractor::extract(const http::RequestHead& head, Arena& arena) const {
  std::vector<FoundToken> tokens;
  for (const auto& [_, header] : headers_) {
    const http::HeaderEntry* entry = nullptr;
    while ((entry = header.name.find(head.headers, entry))) {
      std::string_view value = entry->value();
      if (!afterPrefix(header.prefix, &value)) continue;
      tokens.push_back({value, &header.issuers, &header.name});
    }
  }
  if (!parameters_.empty() && head.path.find('?') != std::string_view::npos) {
    const http::Query query = http::Query::of(head.path, http::Query::Decoding::Percent);
    for (const auto& [name, issuers] : parameters_) {
      const std::optional<std::string_view> value = query.find(name);
      if (value) tokens.push_back({arena.copy(*value), &issuers, nullptr, name});
    }
  }
  if (cookies_.empty()) return tokens;
  for (const auto& [name, issuers] : cookies_) {
    http::forEachCookie(head.headers, [&](std::string_view each, std::string_view value) {
      if (each != name) return true;
      tokens.push_back({value, &issuers});
      return false;
    });
  }
  return tokens;
}

void JwtExtractor::sanitize(http::HeaderMap& headers) const {
  for (const format::HeaderName& name : own_) removeHeader(name, headers);
}

void removeToken(const FoundToken& token, http::RequestHead& head, Arena& arena) {
  if (token.header) removeHeader(*token.header, head.headers);
  if (token.parameter.empty()) return;
  head.path = arena.copy(http::Query::without(head.path, token.parameter));
}

}  // namespace fairlead::filters
