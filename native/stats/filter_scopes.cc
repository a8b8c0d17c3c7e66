#include "stats/filter_scopes.h"

#include <algorithm>
#include <utility>

#include "stats/scope_names.h"
#include "stats/scopes.h"

namespace fairlead::stats {

namespace {

// As the real server has it: a dot would end the path.
std::string withoutDots(std::string_view path) {
  std::string text(path);
  std::replace(text.begin(), text.end(), '.', '_');
  return text;
}

// What follows the owner's prefix is only known where that is one token.
bool isOneToken(const Scope& owner) {
  return owner.metric_prefix == "http." || owner.metric_prefix == "cluster.";
}

// A prefix as a part of names: with one dot behind it, unless there is none or nothing.
std::string asPart(std::string_view prefix) {
  return std::string(prefix) + (prefix.empty() || prefix.ends_with('.') ? "" : ".");
}

// A part of a scope that is a label: before the scope's own, or after them.
Scope labelled(Scope scope, const char* label, const Token& token, bool is_first = true) {
  scope.prefix += token.name + ".";
  scope.metric_prefix += token.rest;
  scope.labels.insert(is_first ? scope.labels.begin() : scope.labels.end(), {label, token.label});
  return scope;
}

// "<prefix>.<stem>": a label where the prefix is one token.
Scope scopeBehind(std::string_view prefix, std::string stem, const char* label) {
  const std::string part = prefix.empty() ? "." : asPart(prefix);
  Scope scope = plainScope(part + stem);
  if (part.find('.') + 1 < part.size() || part == ".") return scope;
  scope.metric_prefix = std::move(stem);
  scope.labels = {{label, part.substr(0, part.size() - 1)}};
  return scope;
}

}  // namespace

Scope cachePathScope(std::string_view number, std::string_view path) {
  const std::string text = withoutDots(path);
  Scope scope;
  scope.metric_prefix = "cache." + std::string(number);
  scope.prefix = scope.metric_prefix + ".cache_path." + text.substr(0, text.size() - 1);
  scope.labels = {{"cache_path", text}};
  return scope;
}

Scope cacheEventScope(std::string_view path) {
  const std::string text = withoutDots(path);
  return {"cache.event.cache_path." + text + ".", "cache.", {{"cache_path", text}}, {}};
}

Scope faultClusterScope(const Scope& http, std::string_view cluster) {
  return labelled(innerScope(http, "fault."), "envoy.fault_downstream_cluster",
                  splitAt(std::string(cluster), cluster.find('.')));
}

Scope extAuthzScope(const Scope& owner, std::string_view prefix) {
  Scope scope = innerScope(owner, "ext_authz.");
  if (prefix.empty()) return scope;
  const Token token = splitAt(std::string(prefix), prefix.find('.'));
  if (!isOneToken(owner)) return innerScope(std::move(scope), token.name + ".");
  return labelled(std::move(scope), "envoy.ext_authz_prefix", token,
                  owner.metric_prefix == "http.");
}

Scope rbacScope(const Scope& http, std::string_view rules) {
  Scope scope = innerScope(http, "rbac.");
  if (rules.ends_with('.')) rules.remove_suffix(1);
  const Token token = splitAt(std::string(rules), rules.find('.'));
  if (token.label.empty() || token.label == "policy" || !isOneToken(http)) {
    return innerScope(std::move(scope), asPart(token.name));
  }
  return labelled(std::move(scope), "envoy.rbac_http_prefix", token);
}

Scope rbacPolicyScope(Scope rbac, std::string_view policy) {
  const bool is_known = rbac.metric_prefix == "http.rbac." && !policy.empty() &&
                        policy.find('.') == std::string_view::npos;
  const std::string name(policy);
  rbac = innerScope(std::move(rbac), "policy.");
  return is_known ? labelled(std::move(rbac), "envoy.rbac_policy_name", {name, name, ""})
                  : innerScope(std::move(rbac), name + ".");
}

Scope networkRbacScope(std::string_view prefix, std::string_view rules) {
  return scopeBehind(prefix, "rbac." + asPart(rules), "envoy.rbac_prefix");
}

Scope httpLocalRateLimitScope(std::string_view prefix) {
  return scopeBehind(prefix, "http_local_rate_limit.", "envoy.local_http_ratelimit_prefix");
}

Scope networkLocalRateLimitScope(std::string_view prefix) {
  return namedScope("local_rate_limit.", "envoy.local_network_ratelimit_prefix", tokenOf(prefix));
}

Scope listenerLocalRateLimitScope(std::string_view prefix) {
  return namedScope("listener_local_ratelimit.", "envoy.local_listener_ratelimit_prefix",
                    tokenOf(prefix));
}

Scope networkRateLimitScope(std::string_view prefix) {
  return namedScope("ratelimit.", "envoy.ratelimit_prefix", tokenOf(prefix));
}

Scope connectionLimitScope(std::string_view prefix) {
  return namedScope("connection_limit.", "envoy.connection_limit_prefix", tokenOf(prefix));
}

Scope proxyProtocolScope(std::string_view prefix) {
  return namedScope("proxy_proto.", "envoy.proxy_protocol_prefix", tokenOf(prefix));
}

Scope proxyProtocolVersionScope(std::string_view prefix, unsigned version) {
  const std::string number = std::to_string(version);
  Scope scope = proxyProtocolScope(prefix);
  // Only one token may stand before the version.
  if (prefix.find('.') != std::string_view::npos) {
    return innerScope(std::move(scope), "versions.v" + number + ".");
  }
  scope.prefix += "versions.v" + number + ".";
  scope.labels.emplace_back("envoy.proxy_protocol_version", number);
  return scope;
}

}  // namespace fairlead::stats
