// Proxies with HTTP filters before their router.
#pragma once

#include <string>
#include <string_view>

#include "test/native/support/origin.h"
#include "test/native/support/proxy.h"

namespace fairlead::test {

inline plan::HeaderMatch pathIs(const std::string& path) {
  plan::HeaderMatch match;
  match.name = ":path";
  match.kind = plan::HeaderMatch::Kind::String;
  match.string_match.emplace();
  match.string_match->kind = plan::StringMatch::Kind::Exact;
  match.string_match->value = path;
  return match;
}

inline plan::HttpFilter healthCheckOn(const std::string& path, bool pass_through = false) {
  plan::HttpFilter filter;
  filter.health_check.emplace();
  filter.health_check->pass_through = pass_through;
  filter.health_check->headers.push_back(pathIs(path));
  filter.health_check->local_cluster = "shop";
  return filter;
}

inline plan::HttpConnectionManager& managerOf(plan::Update& plan) {
  return *plan.listeners[0].filter_chains[0].http;
}

inline std::string get(Proxy& proxy, const std::string& path, const std::string& more = {}) {
  Socket client = proxy.connect();
  client.write("GET " + path + " HTTP/1.1\r\nhost: a\r\n" + more + "\r\n");
  return client.readMessage();
}

// A filter before all others, which have said all they know by then: answers tell of it in that
// header.
inline plan::HttpFilter answersShow(const std::string& header, plan::FormatPiece::Operator what,
                                    const std::string& argument, const std::string& key = {}) {
  plan::HttpFilter filter;
  plan::HeaderChange& change =
      filter.header_mutation.emplace().mutations.emplace().response.emplace_back();
  plan::FormatPiece piece;
  piece.op = what;
  piece.argument = argument;
  piece.alternative = key;
  change.add.emplace().name = header;
  change.add->value.emplace().pieces = {piece};
  return filter;
}

// What the only route says of the filter at that place of the chain.
inline void sayOnRoute(plan::Update& plan, uint32_t filter, plan::FilterConfig config) {
  plan::RouteTable& table = plan.route_tables[0];
  plan::RouteFilter& of_route = table.virtual_hosts[0].routes[0].filters.emplace_back();
  of_route.filter = filter;
  of_route.configs = {static_cast<uint32_t>(table.filter_configs.size())};
  table.filter_configs.push_back(std::move(config));
}

// Answers with the request that came.
inline void repeatRequests(Socket& socket, int) {
  for (std::string message; !(message = socket.readMessage()).empty();) {
    socket.write("HTTP/1.1 200 OK\r\ncontent-length: " + std::to_string(message.size()) +
                 "\r\n\r\n" + message);
  }
}

// Of chunks, without trailers.
inline std::string unchunked(std::string_view body) {
  std::string out;
  while (!body.empty()) {
    const size_t size = std::stoul(std::string(body.substr(0, body.find('\r'))), nullptr, 16);
    body.remove_prefix(body.find('\n') + 1);
    out += body.substr(0, size);
    body.remove_prefix(std::min(body.size(), size + 2));
    if (size == 0) break;
  }
  return out;
}

// What is in its chunks, however many they are.
inline std::string bodyOf(std::string_view message) {
  return unchunked(message.substr(message.find("\r\n\r\n") + 4));
}

inline bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

// ---- filters that tries may pass ----

inline plan::HeaderChange addingHeader(const std::string& name, const std::string& value) {
  plan::HeaderChange change;
  change.add.emplace();
  change.add->name = name;
  change.add->value.emplace().pieces.emplace_back().argument = value;
  return change;
}

inline plan::HttpFilter addingToRequests(const std::string& name, const std::string& value) {
  plan::HttpFilter filter;
  filter.name = "changes";
  filter.header_mutation.emplace().mutations.emplace().request.push_back(addingHeader(name, value));
  return filter;
}

inline plan::HttpFilter bufferOf(uint32_t bytes) {
  plan::HttpFilter filter;
  filter.name = "buffer";
  filter.buffer.emplace();
  filter.buffer->max_request_bytes = bytes;
  return filter;
}

inline plan::HttpFilter denying() {
  plan::HttpFilter filter;
  filter.name = "guard";
  filter.rbac.emplace().rules.emplace();
  return filter;
}

// Copies of all requests go to a cluster "shadow", as their policy is to have it.
inline plan::MirrorPolicy& mirrorTo(uint16_t port, plan::Update& plan) {
  plan::Cluster cluster = plan.clusters[0];
  cluster.name = "shadow";
  plan.clusters.push_back(cluster);
  plan::Assignment hosts = hostsOn({port});
  hosts.cluster_name = "shadow";
  plan.assignments.push_back(hosts);
  plan::MirrorPolicy& policy =
      plan.route_tables[0].virtual_hosts[0].routes[0].cluster->mirrors.emplace_back();
  policy.cluster = "shadow";
  policy.share_millionths = 1'000'000;
  return policy;
}

}  // namespace fairlead::test
