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

inline bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

}  // namespace fairlead::test
