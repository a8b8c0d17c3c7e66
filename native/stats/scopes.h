// The names of scopes and the labels that Prometheus makes of them.
#pragma once

#include <string>

#include "stats/block.h"

namespace fairlead::stats {

inline Scope plainScope(const std::string& prefix) { return {prefix, prefix, {}}; }

inline Scope clusterScope(const std::string& name) {
  return {"cluster." + name + ".", "cluster.", {{"envoy_cluster_name", name}}};
}

inline Scope httpScope(const std::string& prefix) {
  return {"http." + prefix + ".", "http.", {{"envoy_http_conn_manager_prefix", prefix}}};
}

inline Scope tcpScope(const std::string& prefix) {
  return {"tcp." + prefix + ".", "tcp.", {{"envoy_tcp_prefix", prefix}}};
}

inline Scope listenerScope(const std::string& address) {
  return {"listener." + address + ".", "listener.", {{"envoy_listener_address", address}}};
}

inline Scope listenerHttpScope(const std::string& address, const std::string& prefix) {
  return {"listener." + address + ".http." + prefix + ".",
          "listener.http.",
          {{"envoy_http_conn_manager_prefix", prefix}, {"envoy_listener_address", address}}};
}

inline Scope listenerWorkerScope(const std::string& address, unsigned worker) {
  const std::string id = std::to_string(worker);
  return {"listener." + address + ".worker_" + id + ".",
          "listener.worker.",
          {{"envoy_worker_id", id}, {"envoy_listener_address", address}}};
}

// The admin's listener and its HTTP: "listener.admin." has no address to make a label of.
inline Scope listenerAdminHttpScope() {
  return {"listener.admin.http.admin.",
          "listener.admin.http.",
          {{"envoy_http_conn_manager_prefix", "admin"}}};
}

// "server.worker_0.", "thread_local_cluster_manager.worker_0."
inline Scope workerScope(const std::string& prefix, unsigned worker) {
  const std::string id = std::to_string(worker);
  return {prefix + "worker_" + id + ".", prefix + "worker.", {{"envoy_worker_id", id}}};
}

}  // namespace fairlead::stats
