// What the tests of routing have in common: requests that own their bytes, and short ways to write
// plans.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/arena.h"
#include "http/message.h"
#include "plan/plan.gen.h"
#include "route/route_table.h"
#include "test/native/base/regex_assembler.h"

namespace fairlead::test {

// Numbers for the clusters of tables whose clusters do not matter.
inline NameIds& someClusters() {
  static NameIds ids;
  return ids;
}

// Headers whose bytes live as long as it does.
class Headers {
 public:
  Headers& add(std::string name, std::string value) {
    bytes_.push_back(std::move(name));
    const std::string& kept = bytes_.back();
    bytes_.push_back(std::move(value));
    map_->add(http::internHeader(kept), kept, bytes_.back());
    return *this;
  }
  http::HeaderMap& map() { return *map_; }
  // "name: value" lines in their order.
  std::string text() const {
    std::string text;
    for (const http::HeaderEntry& entry : *map_) {
      if (entry.name_size == 0) continue;
      text.append(entry.name()).append(": ").append(entry.value()).append("\n");
    }
    return text;
  }

 private:
  std::unique_ptr<http::HeaderMap> map_ = std::make_unique<http::HeaderMap>();
  std::deque<std::string> bytes_;
};

struct Request {
  std::string path = "/";
  std::string authority = "a.test";
  std::string method = "GET";
  std::string scheme = "http";
  uint64_t random = 0;
  Headers headers = {};

  Request&& with(std::string name, std::string value) && {
    headers.add(std::move(name), std::move(value));
    return std::move(*this);
  }
  route::RequestView view() { return {method, path, authority, scheme, &headers.map(), random}; }
};

using PathKind = plan::RouteMatch::PathKind;

// A plan with some of its fields set: made<plan::Redirect>([](auto& it) { it.port = 80; }).
template <typename Plan, typename Change>
Plan made(Change change) {
  Plan plan;
  change(plan);
  return plan;
}

inline plan::WeightedCluster weightedCluster(std::string name, uint64_t weight) {
  plan::WeightedCluster cluster;
  cluster.name = std::move(name);
  cluster.weight = weight;
  return cluster;
}

inline plan::RouteMatch pathMatch(PathKind kind, std::string path) {
  plan::RouteMatch match;
  match.path_kind = kind;
  match.path = std::move(path);
  return match;
}

inline plan::Regex regexPlan(std::string program) {
  plan::Regex regex;
  regex.program = std::move(program);
  return regex;
}

// Fits any text that begins so.
inline plan::Regex beginsWith(std::string_view text) {
  Assembler assembler;
  const uint32_t start = assembler.text(text);
  const uint32_t fork = assembler.next();
  assembler.fork(fork + 1, fork + 2);
  assembler.bytes(0, 255, fork);
  assembler.match();
  return regexPlan(assembler.program(start));
}

// "^" text "(.*)$": group 1 is what follows.
inline plan::Regex restAfter(std::string_view text) {
  Assembler assembler;
  constexpr uint32_t kBeginText = 4;
  constexpr uint32_t kEndText = 8;
  const uint32_t start = assembler.empty(kBeginText, 1);
  assembler.text(text);
  assembler.capture(2, assembler.next() + 1);
  const uint32_t fork = assembler.next();
  assembler.fork(fork + 1, fork + 2);
  assembler.bytes(0, 255, fork);
  assembler.capture(3, fork + 3);
  assembler.empty(kEndText, fork + 4);
  assembler.match();
  return regexPlan(assembler.program(start, 4));
}

// A route that answers directly, and so goes by its name alone.
inline plan::Route namedRoute(std::string name, plan::RouteMatch match) {
  plan::Route route;
  route.name = std::move(name);
  route.match = std::move(match);
  route.direct_response = plan::DirectResponse();
  route.direct_response->status = 200;
  return route;
}

inline plan::VirtualHost virtualHost(std::vector<std::string> domains,
                                     std::vector<plan::Route> routes = {}) {
  plan::VirtualHost host;
  host.name = domains.empty() ? "" : domains[0];
  host.domains = std::move(domains);
  host.routes = std::move(routes);
  return host;
}

inline plan::Format literalFormat(std::string text) {
  plan::FormatPiece piece;
  piece.argument = std::move(text);
  plan::Format format;
  format.pieces.push_back(std::move(piece));
  return format;
}

inline plan::Format requestHeaderFormat(std::string name) {
  plan::FormatPiece piece;
  piece.op = plan::FormatPiece::Operator::Req;
  piece.argument = std::move(name);
  plan::Format format;
  format.pieces.push_back(std::move(piece));
  return format;
}

}  // namespace fairlead::test
