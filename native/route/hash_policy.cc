#include "route/hash_policy.h"

#include <algorithm>
#include <bit>

#include "base/text.h"
#include "base/xxhash.h"
#include "format/context.h"
#include "route/cookies.h"

namespace fairlead::route {

namespace {

using Hash = std::optional<uint64_t>;

// Several lines of a name count together, in whatever order they come.
Hash hashOfHeader(const HeaderName& name, const Regex* regex, const std::string& substitution,
                  const RequestView& request) {
  std::vector<std::string> values;
  const auto add = [&](std::string_view value) {
    std::string& text = values.emplace_back();
    if (regex) {
      regex->replaceAll(value, substitution, &text);
    } else {
      text = value;
    }
  };
  if (name.isPseudo()) {
    std::string_view value;
    if (request.header(name, &value)) add(value);
  } else {
    const http::HeaderEntry* entry = nullptr;
    while ((entry = name.find(*request.headers, entry))) add(entry->value());
  }
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  uint64_t hash = 0;
  for (const std::string& value : values) hash = xxHash64(value, hash);
  return hash;
}

std::string hexadecimal(uint64_t number) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text(16, '0');
  for (size_t i = text.size(); i-- > 0; number >>= 4) text[i] = kDigits[number & 15];
  return text;
}

// The same for all requests of a connection, so that those that race do not contradict each other.
std::string newCookieValue(const HashSource& source) {
  return hexadecimal(xxHash64(source.peer.text() + source.local.text()));
}

std::string setCookie(const plan::CookieHash& cookie, const std::string& value) {
  std::string text = cookie.name + "=\"" + value + '"';
  if (*cookie.ttl_s > 0) text.append("; Max-Age=").append(std::to_string(*cookie.ttl_s));
  if (!cookie.path.empty()) text.append("; Path=").append(cookie.path);
  for (const std::string& attribute : cookie.attributes) text.append("; ").append(attribute);
  return text.append("; HttpOnly");
}

Hash hashOfCookie(const plan::CookieHash& cookie, const HashSource& source,
                  std::vector<std::string>* cookies) {
  const std::string_view value =
      findCookie(*source.request.headers, cookie.name).value_or(std::string_view());
  if (!value.empty()) return xxHash64(value);
  if (!cookie.ttl_s) return {};
  const std::string made = newCookieValue(source);
  cookies->push_back(setCookie(cookie, made));
  return xxHash64(made);
}

// The first parameter of the name; nothing is decoded.
Hash hashOfQuery(std::string_view name, std::string_view query) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    const size_t equals = pair.find('=');
    if (pair.substr(0, equals) != name) continue;
    return xxHash64(equals == std::string_view::npos ? std::string_view()
                                                     : pair.substr(equals + 1));
  }
  return {};
}

}  // namespace

std::optional<uint64_t> hashOfAddress(const net::Address& client) {
  if (!client.isIp()) return {};
  char text[net::Address::kTextBytes];
  return xxHash64(client.writeIp(text));
}

std::optional<uint64_t> hashOfState(std::string_view name, const net::FilterState* request,
                                    const net::FilterState* connection) {
  const std::string* text = request ? request->findHashable(name) : nullptr;
  if (!text && connection) text = connection->findHashable(name);
  return text ? std::optional(xxHash64(*text)) : std::nullopt;
}

Result<HashPolicies> HashPolicies::build(const std::vector<plan::HashPolicy>& plans) {
  HashPolicies policies;
  for (const plan::HashPolicy& plan : plans) {
    Policy& policy = policies.policies_.emplace_back();
    policy.is_terminal = plan.is_terminal;
    if (plan.header) {
      policy.kind = Policy::Kind::Header;
      policy.header = HeaderName(plan.header->name);
      if (const auto& rewrite = plan.header->rewrite) {
        Result<Regex> regex = Regex::load(rewrite->regex ? rewrite->regex->program : std::string());
        if (!regex) return regex.error();
        policy.regex = std::move(regex.value());
        policy.substitution = rewrite->substitution;
      }
    } else if (plan.cookie) {
      policy.kind = Policy::Kind::Cookie;
      policy.cookie = *plan.cookie;
    } else if (!plan.filter_state.empty()) {
      policy.kind = Policy::Kind::State;
      policy.name = plan.filter_state;
    } else if (!plan.source_ip) {
      policy.kind = Policy::Kind::Query;
      policy.name = plan.query_parameter;
    }
  }
  return policies;
}

std::optional<uint64_t> HashPolicies::hash(const HashSource& source,
                                           std::vector<std::string>* cookies) const {
  Hash all;
  for (const Policy& policy : policies_) {
    const Hash one = hash(policy, source, cookies);
    // What was there moves on, so that the same twice does not cancel itself.
    if (one) all = (all ? std::rotl(*all, 1) : 0) ^ *one;
    if (policy.is_terminal && all) break;
  }
  return all;
}

std::optional<uint64_t> HashPolicies::hash(const Policy& policy, const HashSource& source,
                                           std::vector<std::string>* cookies) {
  switch (policy.kind) {
    case Policy::Kind::Header:
      return hashOfHeader(policy.header, policy.regex ? &*policy.regex : nullptr,
                          policy.substitution, source.request);
    case Policy::Kind::Cookie:
      return hashOfCookie(policy.cookie, source, cookies);
    case Policy::Kind::SourceIp:
      return hashOfAddress(source.client);
    case Policy::Kind::Query:
      return hashOfQuery(policy.name, source.request.query());
    case Policy::Kind::State: {
      format::FormatContext context;
      source.request.describe(&context);
      return hashOfState(policy.name, context.filter_state, context.connection_state);
    }
  }
  return {};
}

}  // namespace fairlead::route
