// The names of scopes, and the labels that Prometheus makes of them. Pure.
#pragma once

#include <string>
#include <string_view>

#include "stats/block.h"

namespace fairlead::stats {

// Names that the configuration gave may hold anything: ':' becomes '_' as the real server has it,
// and a label ends at the first dot; what follows stays part of the metric's name.

// "cluster_manager.": no labels.
Scope plainScope(std::string prefix);
Scope clusterScope(std::string_view name);
// "cluster.<name>.endpoint.<address>."; `hostname` may be empty.
Scope endpointScope(std::string_view cluster, std::string_view address, std::string_view hostname);
// "cluster.<name>.zone.<from>.<to>."
Scope zoneScope(std::string_view cluster, std::string_view from, std::string_view to);
// Calls of one cluster: "cluster.<name>.grpc.<service>.<method>.", or of no method in particular,
// where it is empty.
Scope grpcCallScope(std::string_view cluster, std::string_view protocol, std::string_view service,
                    std::string_view method);
Scope googleGrpcScope(std::string_view prefix);
Scope httpScope(std::string_view prefix);
Scope rdsScope(std::string_view http_prefix, std::string_view route_configuration);
// "http.<prefix>.rds.vhds.<route configuration>."
Scope vhdsScope(std::string_view http_prefix, std::string_view route_configuration);
// "cluster.<name>.leds."
Scope ledsScope(std::string_view cluster);
Scope scopedRdsScope(std::string_view http_prefix, std::string_view configuration);
// "<owner>control_plane.", of a subscription.
Scope controlPlaneScope(Scope owner);
// `kind`: "http_filter".
Scope extensionDiscoveryScope(std::string_view kind, std::string_view name);
Scope tcpScope(std::string_view prefix);
// `name`: "127.0.0.1_10000", or the listener's stat_prefix.
Scope listenerScope(std::string_view name);
Scope listenerHttpScope(std::string_view listener, std::string_view http_prefix);
Scope listenerWorkerScope(std::string_view listener, unsigned worker);
// The admin's listener: "listener.admin." has no address to make a label of.
Scope listenerAdminHttpScope();
Scope virtualClusterScope(std::string_view virtual_host, std::string_view virtual_cluster);
// A route with a stat_prefix.
Scope routeScope(std::string_view virtual_host, std::string_view stat_prefix);
Scope sdsScope(std::string_view secret);
// "server.worker_0.", "thread_local_cluster_manager.worker_0."
Scope workerScope(const std::string& prefix, unsigned worker);
// "<owner>ssl.certificate.<name>."
Scope sslCertificateScope(Scope owner, std::string_view name);
// A part of a scope ("outlier_detection.") under the scope's labels.
Scope innerScope(Scope scope, std::string_view part);

}  // namespace fairlead::stats
