// Choosing a virtual host and a route, and what it costs to make a line or a header.
#include <memory>
#include <string>
#include <vector>

#include "bench/micro/micro.h"
#include "format/format.h"
#include "net/address.h"
#include "route/route_table.h"

namespace fairlead::route {

namespace {

using PathKind = plan::RouteMatch::PathKind;
using Op = plan::FormatPiece::Operator;
using Table = std::shared_ptr<const RouteTable>;

constexpr size_t kRequests = 1024;

plan::Route routeTo(PathKind kind, std::string path) {
  plan::Route route;
  route.match = plan::RouteMatch();
  route.match->path_kind = kind;
  route.match->path = std::move(path);
  route.cluster = plan::ClusterAction();
  route.cluster->cluster = "c";
  return route;
}

Table build(const plan::RouteTable& plan) {
  static NameIds clusters;
  return RouteTable::build(plan, clusters).value();
}

// "service-0042.example.test" and so on.
Table tableOfHosts(size_t count) {
  plan::RouteTable plan;
  plan.virtual_hosts.resize(count);
  for (size_t i = 0; i < count; ++i) {
    plan.virtual_hosts[i].domains = {"service-" + std::to_string(i) + ".example.test"};
  }
  return build(plan);
}

// Paths as an API has them; every other one exact, a catch-all last.
std::string pathOf(size_t number) {
  return "/api/v" + std::to_string(number % 7) + "/resource-" + std::to_string(number) + "/items";
}
Table tableOfRoutes(size_t count) {
  plan::RouteTable plan;
  plan.virtual_hosts.resize(1);
  plan.virtual_hosts[0].domains = {"*"};
  for (size_t i = 0; i + 1 < count; ++i) {
    plan.virtual_hosts[0].routes.push_back(
        routeTo(i % 2 == 0 ? PathKind::Exact : PathKind::Prefix, pathOf(i)));
  }
  plan.virtual_hosts[0].routes.push_back(routeTo(PathKind::Prefix, "/"));
  return build(plan);
}

// Different requests in turn: one and the same would teach the branch predictor the way.
void findHosts(micro::State& state, size_t hosts) {
  const Table table = tableOfHosts(hosts);
  std::vector<std::string> authorities;
  for (size_t i = 0; i < kRequests; ++i) {
    authorities.push_back("service-" + std::to_string(i * 7919 % hosts) + ".Example.test");
  }
  size_t next = 0;
  for (auto _ : state) micro::keep(table->findHost(authorities[next++ % kRequests]));
}

void findRoutes(micro::State& state, size_t routes) {
  const Table table = tableOfRoutes(routes);
  const auto headers = std::make_unique<http::HeaderMap>();
  std::vector<std::string> paths;
  for (size_t i = 0; i < kRequests; ++i) paths.push_back(pathOf(i * 7919 % routes) + "?q=1");
  size_t next = 0;
  for (auto _ : state) {
    micro::keep(
        table->match({"GET", paths[next++ % kRequests], "a.test", "http", headers.get(), 0}).route);
  }
}

plan::FormatPiece piece(Op op, std::string argument = {}) {
  return {op, std::move(argument), {}, 0};
}

// The default format of access logs.
plan::Format logFormat() {
  const auto text = [](std::string literal) { return piece(Op::Literal, std::move(literal)); };
  plan::FormatPiece path = piece(Op::Req, "x-envoy-original-path");
  path.alternative = ":path";
  return {{text("["),     piece(Op::StartTime),
           text("] \""),  piece(Op::Req, ":method"),
           text(" "),     path,
           text(" "),     piece(Op::Protocol),
           text("\" "),   piece(Op::ResponseCode),
           text(" "),     piece(Op::ResponseFlags),
           text(" "),     piece(Op::BytesReceived),
           text(" "),     piece(Op::BytesSent),
           text(" "),     piece(Op::Duration),
           text(" "),     piece(Op::Resp, "x-envoy-upstream-service-time"),
           text(" \""),   piece(Op::Req, "x-forwarded-for"),
           text("\" \""), piece(Op::Req, "user-agent"),
           text("\" \""), piece(Op::Req, "x-request-id"),
           text("\" \""), piece(Op::Req, ":authority"),
           text("\" \""), piece(Op::UpstreamHost),
           text("\"\n")},
          {}};
}

void addHeader(http::HeaderMap& headers, std::string_view name, std::string_view value) {
  headers.add(http::internHeader(name), name, value);
}

}  // namespace

MICRO("route host of 10") { findHosts(state, 10); }
MICRO("route host of 10000") { findHosts(state, 10'000); }
MICRO("route path of 1") { findRoutes(state, 1); }
MICRO("route path of 10") { findRoutes(state, 10); }
MICRO("route path of 100") { findRoutes(state, 100); }
MICRO("route path of 10000") { findRoutes(state, 10'000); }

MICRO("route mutations, two literals of which one overwrites") {
  plan::HeaderMutations plan;
  plan::Format value;
  value.pieces = {piece(Op::Literal, "value")};
  plan.request_add = {{"x-added", value, plan::HeaderAddition::Action::Append, false},
                      {"x-there", value, plan::HeaderAddition::Action::OverwriteOrAdd, false}};
  const HeaderMutations mutations(plan);
  const auto headers = std::make_unique<http::HeaderMap>();
  const format::FormatContext context;
  Arena arena(1024);
  for (auto _ : state) {
    headers->clear();
    for (const char* name : {"accept", "user-agent", "x-there", "x-request-id"}) {
      addHeader(*headers, name, "value");
    }
    mutations.request.apply(*headers, context, arena);
    micro::keep(headers->size());
    arena.reset();
  }
}

MICRO("format default access log line") {
  const auto request = std::make_unique<http::HeaderMap>();
  const auto response = std::make_unique<http::HeaderMap>();
  addHeader(*request, "accept", "*/*");
  addHeader(*request, "user-agent", "curl/7.88.1");
  addHeader(*request, "x-forwarded-proto", "http");
  addHeader(*request, "x-request-id", "d1f2a3b4-5678-4abc-9def-0123456789ab");
  addHeader(*response, "x-envoy-upstream-service-time", "1");
  net::Address upstream;
  net::parseIp("127.0.0.1:19903", &upstream);
  format::FormatContext context;
  context.start_time_us = 1'795'246'073'084'984;
  context.duration_us = 2'000;
  context.status = 200;
  context.protocol = "HTTP/1.1";
  context.method = "GET";
  context.path = "/a";
  context.authority = "127.0.0.1:19902";
  context.bytes_sent = 196;
  context.request_headers = request.get();
  context.response_headers = response.get();
  context.upstream_host = context.upstream_remote = &upstream;
  const format::Format format(logFormat());
  std::string line;
  format.appendLine(context, &line);
  state.setBytes(line.size());
  for (auto _ : state) {
    line.clear();
    format.appendLine(context, &line);
    micro::keep(line.data());
  }
}

}  // namespace fairlead::route
