// The names of what filters count, and the labels that Prometheus makes of them. Pure.
#pragma once

#include <string_view>

#include "stats/block.h"

namespace fairlead::stats {

// "http.<prefix>.fault.<downstream cluster>.", of "http.<prefix>."
Scope faultClusterScope(const Scope& http, std::string_view cluster);
// "<owner>ext_authz.", or "<owner>ext_authz.<prefix>.", of a manager or of a cluster.
Scope extAuthzScope(const Scope& owner, std::string_view prefix);
// "http.<prefix>.rbac.", or "http.<prefix>.rbac.<rules>.", of "http.<prefix>.".
Scope rbacScope(const Scope& http, std::string_view rules);
// "policy.<name>." of such a scope.
Scope rbacPolicyScope(Scope rbac, std::string_view policy);
// "<prefix>.rbac.", or "<prefix>.rbac.<rules>.", of connections.
Scope networkRbacScope(std::string_view prefix, std::string_view rules);
// "<prefix>.http_local_rate_limit."
Scope httpLocalRateLimitScope(std::string_view prefix);
// "local_rate_limit.<prefix>."
Scope networkLocalRateLimitScope(std::string_view prefix);
// "listener_local_ratelimit.<prefix>."
Scope listenerLocalRateLimitScope(std::string_view prefix);
// "ratelimit.<prefix>.", of connections.
Scope networkRateLimitScope(std::string_view prefix);
// "connection_limit.<prefix>."
Scope connectionLimitScope(std::string_view prefix);
// "proxy_proto.", or "proxy_proto.<prefix>."
Scope proxyProtocolScope(std::string_view prefix);
// The same, of one version of the protocol.
Scope proxyProtocolVersionScope(std::string_view prefix, unsigned version);
// "cache.<number>.cache_path.<path>", whose statistic is "/": `path` ends with it.
Scope cachePathScope(std::string_view number, std::string_view path);
// "cache.event.cache_path.<path>."
Scope cacheEventScope(std::string_view path);

}  // namespace fairlead::stats
