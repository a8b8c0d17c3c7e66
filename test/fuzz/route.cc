// Any table and any request: the index chooses the route that trying all in turn would choose, and
// what the route makes of the request (location, path, host) can be made.
//
// Lines: the request's path, its authority, then a route each: a letter for the kind of its path
// ("p", "e", "s", "c"; in upper case the case is ignored), "!" if it asks for a header, its path.
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "route/route_table.h"

using namespace fairlead;
using PathKind = plan::RouteMatch::PathKind;

namespace {

std::string_view takeLine(std::string_view* rest) {
  const std::string_view line = rest->substr(0, rest->find('\n'));
  rest->remove_prefix(line.size() == rest->size() ? line.size() : line.size() + 1);
  return line;
}

plan::RouteMatch matchOf(std::string_view line) {
  plan::RouteMatch match;
  const char kind = line.empty() ? 'p' : line[0];
  if (!line.empty()) line.remove_prefix(1);
  match.ignore_case = kind >= 'A' && kind <= 'Z';
  switch (kind | 0x20) {
    case 'e':
      match.path_kind = PathKind::Exact;
      break;
    case 's':
      match.path_kind = PathKind::SeparatedPrefix;
      break;
    case 'c':
      match.path_kind = PathKind::Connect;
      break;
    default:
      break;
  }
  if (line.starts_with('!')) {
    match.headers.emplace_back();
    match.headers[0].name = "x-h";
    match.headers[0].present = true;
    line.remove_prefix(1);
  }
  match.path = line;
  return match;
}

plan::Route routeOf(std::string_view line, bool redirects) {
  plan::PathRewrite rewrite;
  rewrite.kind = plan::PathRewrite::Kind::Prefix;
  rewrite.value = "/new";
  plan::Route route;
  route.match = matchOf(line);
  if (redirects) {
    route.redirect = plan::Redirect();
    route.redirect->https = true;
    route.redirect->path_rewrite = rewrite;
  } else {
    route.cluster = plan::ClusterAction();
    route.cluster->path_rewrite = rewrite;
  }
  return route;
}

const route::Route* findInTurn(const route::VirtualHost& host, const route::RequestView& request) {
  for (const route::Route& route : host.routes.routes) {
    if (route.match.matches(request, request.pathOnly())) return &route;
  }
  return nullptr;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  const std::string_view path = takeLine(&rest);
  const std::string_view authority = takeLine(&rest);
  plan::RouteTable plan;
  plan.virtual_hosts.resize(1);
  plan.virtual_hosts[0].domains = {"*.test", "*"};
  while (!rest.empty()) {
    plan.virtual_hosts[0].routes.push_back(routeOf(takeLine(&rest), rest.size() % 2 == 0));
  }
  static NameIds clusters;
  const auto table = route::RouteTable::build(plan, clusters);
  FL_CHECK(table.ok());
  static const auto headers = std::make_unique<http::HeaderMap>();
  headers->clear();
  if (size % 2 == 0) headers->add(http::HeaderId::Other, "x-h", "1");
  const std::string_view method = path.empty() ? "CONNECT" : "GET";
  const route::RequestView request{method, path, authority, "http", headers.get(), size};

  const route::RouteMatchResult result = table.value()->match(request);
  FL_CHECK(result.virtual_host != nullptr);
  FL_CHECK(result.route == findInTurn(*result.virtual_host, request));
  if (!result.route) return 0;
  Arena arena(64);
  const route::Match& match = result.route->match;
  if (result.route->redirect) {
    const auto location = result.route->redirect->location(request, match, arena);
    FL_CHECK(location.starts_with("https://"));
  } else {
    const auto rewritten = result.route->cluster->path_rewrite.apply(request, path, match, arena);
    FL_CHECK(rewritten.starts_with("/new"));
  }
  return 0;
}

std::vector<std::string> fuzzSeeds() {
  return {"/a/b?q\na.test:80\np/a\ne/a/b\ns/a", "/Sep/x\n[::1]:80\nS/sEp\nP/\np!/Sep/",
          "\na.test:443\np\nc\ne", "/x/y/z\n.TEST\ne/x/y/z\np/x/y\np/x\np/\np!/x/y/z"};
}
