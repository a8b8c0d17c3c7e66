#include "stats/scopes.h"

#include <algorithm>
#include <utility>

#include "stats/scope_names.h"

namespace fairlead::stats {

namespace {

bool isDigit(char c) { return c >= '0' && c <= '9'; }

// "10.0.0.1_80": an address's dots do not end the label.
size_t addressLength(std::string_view name) {
  size_t at = 0;
  const auto skipDigits = [&] {
    const size_t start = at;
    while (at < name.size() && isDigit(name[at])) ++at;
    return at > start;
  };
  for (int part = 0; part < 4; ++part) {
    if (part > 0 && (at == name.size() || name[at++] != '.')) return 0;
    if (!skipDigits()) return 0;
  }
  if (at == name.size() || name[at++] != '_' || !skipDigits()) return 0;
  return at;
}

Token listenerToken(std::string_view raw) {
  std::string name = trimmed(sanitized(raw));
  if (addressLength(name) == name.size() && !name.empty()) return {name, name, ""};
  return splitAt(name, name.find('.'));
}

}  // namespace

Scope plainScope(std::string prefix) { return {prefix, prefix, {}, {}}; }

Scope sslCertificateScope(Scope owner, std::string_view name) {
  const std::string token = sanitized(name);
  owner.prefix.append("ssl.certificate.").append(token).append(".");
  owner.metric_prefix += "ssl.certificate.";
  owner.labels.insert(owner.labels.begin(), {"envoy.tls_certificate", token});
  return owner;
}

Scope innerScope(Scope scope, std::string_view part) {
  scope.prefix.append(part);
  scope.metric_prefix.append(part);
  return scope;
}

Scope clusterScope(std::string_view name) {
  return namedScope("cluster.", "envoy.cluster_name", tokenOf(name));
}

// No part of the cluster's name is left in the metric's.
Scope endpointScope(std::string_view cluster, std::string_view address, std::string_view hostname) {
  const std::string name = sanitized(cluster);
  Scope scope = {"cluster." + name + ".endpoint." + sanitized(address) + ".",
                 "cluster.endpoint.",
                 {},
                 {{"envoy.cluster_name", name}, {"envoy.endpoint_address", std::string(address)}}};
  if (!hostname.empty()) scope.labels.emplace_back("envoy.endpoint_hostname", hostname);
  return scope;
}

Scope ledsScope(std::string_view cluster) { return innerScope(clusterScope(cluster), "leds."); }

Scope zoneScope(std::string_view cluster, std::string_view from, std::string_view to) {
  return innerScope(clusterScope(cluster),
                    "zone." + std::string(from) + "." + std::string(to) + ".");
}

Scope grpcCallScope(std::string_view cluster, std::string_view protocol, std::string_view service,
                    std::string_view method) {
  const std::string stem = std::string(protocol) + ".";
  Scope scope = innerScope(clusterScope(cluster), stem);
  if (service.empty()) return scope;
  const std::string name = sanitized(std::string(service) + "." + std::string(method));
  scope.prefix += name + ".";
  if (protocol != "grpc") {
    scope.metric_prefix += name + ".";
    return scope;
  }
  // The first two parts are its labels, whatever they are.
  const size_t first = name.find('.');
  const size_t second = std::min(name.find('.', first + 1), name.size());
  scope.labels.insert(scope.labels.begin(),
                      {{"envoy.grpc_bridge_method", name.substr(first + 1, second - first - 1)},
                       {"envoy.grpc_bridge_service", name.substr(0, first)}});
  if (second < name.size()) scope.metric_prefix += name.substr(second + 1) + ".";
  return scope;
}

Scope googleGrpcScope(std::string_view prefix) {
  return namedScope("grpc.", "envoy.google_grpc_client_prefix", tokenOf(prefix));
}

Scope httpScope(std::string_view prefix) {
  return namedScope("http.", "envoy.http_conn_manager_prefix", tokenOf(prefix));
}

Scope rdsScope(std::string_view http_prefix, std::string_view route_configuration) {
  Scope scope = httpScope(http_prefix);
  scope.metric_prefix += "rds.";
  scope.prefix += "rds.";
  // One without a name leaves no empty place.
  if (route_configuration.empty()) return scope;
  // Taken whole, dots and all.
  const std::string name = sanitized(route_configuration);
  scope.prefix += name + ".";
  scope.labels.insert(scope.labels.begin(), {"envoy.rds_route_config", name});
  return scope;
}

// Of a route configuration that is a listener's own: no prefix.
Scope vhdsScope(std::string_view http_prefix, std::string_view route_configuration) {
  const std::string name = "vhds." + sanitized(route_configuration);
  if (http_prefix.empty()) {
    Scope own;
    own.prefix = own.metric_prefix = name + ".";
    return own;
  }
  Scope scope = httpScope(http_prefix);
  scope.prefix += "rds." + name + ".";
  scope.metric_prefix += "rds.";
  scope.labels.insert(scope.labels.begin(), {"envoy.rds_route_config", name});
  return scope;
}

Scope scopedRdsScope(std::string_view http_prefix, std::string_view configuration) {
  Scope scope = httpScope(http_prefix);
  const std::string name = sanitized(configuration);
  scope.prefix += "scoped_rds." + name + ".";
  scope.metric_prefix += "scoped_rds.";
  scope.labels.insert(scope.labels.begin(), {"envoy.scoped_rds_config", name});
  return scope;
}

Scope controlPlaneScope(Scope owner) {
  constexpr std::string_view kPart = "control_plane";
  owner.prefix.append(kPart).append(".");
  // The names of route configurations are taken up to a name's last dot.
  for (auto& [label, value] : owner.labels) {
    if (label != "envoy.rds_route_config" && label != "envoy.scoped_rds_config") continue;
    value.append(".").append(kPart);
    return owner;
  }
  owner.metric_prefix.append(kPart).append(".");
  return owner;
}

Scope extensionDiscoveryScope(std::string_view kind, std::string_view name) {
  return plainScope("extension_config_discovery." + std::string(kind) + "." + sanitized(name) +
                    ".");
}

Scope tcpScope(std::string_view prefix) {
  return namedScope("tcp.", "envoy.tcp_prefix", tokenOf(prefix));
}

Scope listenerScope(std::string_view name) {
  return namedScope("listener.", "envoy.listener_address", listenerToken(name));
}

Scope listenerHttpScope(std::string_view listener, std::string_view http_prefix) {
  const Scope http = httpScope(http_prefix);
  Scope scope = listenerScope(listener);
  scope.prefix += http.prefix;
  scope.metric_prefix += http.metric_prefix;
  scope.labels.insert(scope.labels.begin(), http.labels.begin(), http.labels.end());
  return scope;
}

Scope listenerWorkerScope(std::string_view listener, unsigned worker) {
  const std::string id = std::to_string(worker);
  Scope scope = listenerScope(listener);
  const bool is_one_token = scope.metric_prefix == "listener.";
  scope.prefix += "worker_" + id + ".";
  if (is_one_token) {
    // The number leaves with the dot that follows it.
    scope.metric_prefix += "worker_";
    scope.first_labels.emplace_back("envoy.worker_id", id);
  } else {
    scope.metric_prefix += "worker_" + id + ".";
  }
  return scope;
}

Scope listenerAdminHttpScope() {
  return {"listener.admin.http.admin.",
          "listener.admin.http.",
          {},
          {{"envoy.http_conn_manager_prefix", "admin"}}};
}

Scope virtualClusterScope(std::string_view virtual_host, std::string_view virtual_cluster) {
  const Token host = splitAt(std::string(virtual_host), virtual_host.find('.'));
  const Token group = splitAt(std::string(virtual_cluster), virtual_cluster.find('.'));
  Scope scope = {"vhost." + host.name + ".vcluster." + group.name + ".",
                 "vhost." + host.rest + "vcluster.",
                 {},
                 {{"envoy.virtual_host", host.label}}};
  if (host.rest.empty()) {
    scope.metric_prefix += group.rest;
    scope.labels.insert(scope.labels.begin(), {"envoy.virtual_cluster", group.label});
  } else {
    scope.metric_prefix += group.name + ".";
  }
  return scope;
}

Scope routeScope(std::string_view virtual_host, std::string_view stat_prefix) {
  const Token host = splitAt(std::string(virtual_host), virtual_host.find('.'));
  const Token route = splitAt(std::string(stat_prefix), stat_prefix.find('.'));
  Scope scope = {"vhost." + host.name + ".route." + route.name + ".",
                 "vhost." + host.rest + "route.",
                 {},
                 {{"envoy.virtual_host", host.label}}};
  if (host.rest.empty()) {
    scope.metric_prefix += route.rest;
    scope.labels.emplace_back("envoy.route", route.label);
  } else {
    scope.metric_prefix += route.name + ".";
  }
  return scope;
}

Scope sdsScope(std::string_view secret) {
  const std::string name = sanitized(secret);
  return namedScope("sds.", "envoy.xds_resource_name", splitAt(name, name.find('.')));
}

Scope workerScope(const std::string& prefix, unsigned worker) {
  const std::string id = std::to_string(worker);
  return {prefix + "worker_" + id + ".", prefix + "worker_", {{"envoy.worker_id", id}}, {}};
}

}  // namespace fairlead::stats
