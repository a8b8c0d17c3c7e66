// Redirects of hosts that are followed here, as the real server does it: the request as it went
// out, with another place, passes the filters and is routed again.
#include <algorithm>

#include "proxy/downstream.h"
#include "proxy/redirect_place.h"
#include "proxy/router.h"
#include "proxy/stream.h"

namespace fairlead::proxy {

using http::HeaderEntry;
using http::HeaderId;
using http::HeaderMap;
using ClusterCounter = stats::Cluster::Counter;
using HttpCounter = stats::Http::Counter;
using PredicateKind = plan::RedirectPredicate::Kind;

namespace {

// What the answer has of the names stands in the place of the request's own.
void copyHeaders(const std::vector<std::string>& names, const HeaderMap& from, HeaderMap& to) {
  for (const std::string& name : names) {
    to.remove(name);
    for (const HeaderEntry& entry : from) {
      if (entry.name() == name) to.add(entry.id, entry.name(), entry.value());
    }
  }
}

}  // namespace

bool Router::isRedirected(const http::ResponseHead& head) {
  const plan::InternalRedirect& policy = *info_.route->cluster->plan.internal_redirect;
  const auto& statuses = policy.statuses;
  if (std::find(statuses.begin(), statuses.end(), head.status) == statuses.end()) return false;
  upstream::WorkerCluster& cluster = *info_.cluster;
  cluster.hold();
  const bool goes = redirect(policy, head);
  cluster.stats().add(goes ? ClusterCounter::UpstreamInternalRedirectSucceededTotal
                           : ClusterCounter::UpstreamInternalRedirectFailedTotal);
  cluster.letGo();
  if (!goes) return false;
  const uint64_t now_us = loop().nowMicros();
  abandon();
  info_.status = head.status;
  info_.response_begin_us = now_us;
  info_.details = "internal_redirect";
  stream_.keepAnswer(head.headers);
  is_redirected_ = true;
  loop().defer(this);
  return true;
}

bool Router::redirect(const plan::InternalRedirect& policy, const http::ResponseHead& head) {
  stats::Shard<stats::Http>& stats = info_.server->stats();
  const HeaderEntry* const location = head.headers.find(HeaderId::Location);
  if (!may_redirect_ || !request_complete_ || !location) return false;
  RedirectPlace place;
  Arena& arena = info_.context().arena;
  if (!readRedirectPlace(location->value(), &place)) {
    stats.add(HttpCounter::PassthroughInternalRedirectBadLocation);
    return false;
  }
  const bool from_http = info_.scheme == "http" || !info_.downstream->tls();
  if (!policy.allows_cross_scheme && from_http != place.is_http) {
    stats.add(HttpCounter::PassthroughInternalRedirectUnsafeScheme);
    return false;
  }
  if (stream_.redirects().count >= policy.max_redirects) {
    stats.add(HttpCounter::PassthroughInternalRedirectTooManyRedirects);
    return false;
  }
  http::RequestHead& next = info_.context().released;
  HeaderMap& headers = next.headers;
  kept_head_.restore(&headers);
  copyHeaders(policy.copied_headers, head.headers, headers);
  next.method = kept_head_.method();
  next.path = place.path;
  next.authority = place.authority;
  route::RequestView view = info_.viewOf(next);
  view.scheme = place.is_http ? "http" : "https";
  const route::VirtualHost* const host = info_.table->findHost(view);
  const route::Route* const target = host ? info_.table->findRoute(*host, view) : nullptr;
  if (!target) {
    stats.add(HttpCounter::PassthroughInternalRedirectNoRoute);
    tellOtherRoute(nullptr, view);
    return false;
  }
  if (!mayGoTo(policy, *target, place.is_http, from_http)) {
    stats.add(HttpCounter::PassthroughInternalRedirectPredicate);
    tellOtherRoute(target, view);
    return false;
  }
  // RFC 9110 §15.4.4
  if (head.status == 303 && next.method != "GET" && next.method != "HEAD") {
    next.method = "GET";
    headers.remove(HeaderId::ContentLength);
    dropKept();
    kept_trailers_.clear();
  }
  ++stream_.redirects().count;
  headers.set(HeaderId::XEnvoyOriginalUrl,
              arena.join(arena.join(from_http ? "http://" : "https://", kept_head_.authority()),
                         kept_head_.path()));
  http::SavedHead saved;
  saved.save(next.method, next.path, next.authority, headers);
  kept_head_ = std::move(saved);
  redirects_to_https_ = !place.is_http;
  if (config().logs_request_head) {
    info_.touchUncommon().request.save(kept_head_.method(), kept_head_.path(),
                                       kept_head_.authority(), headers);
  }
  // Logs name where it goes.
  info_.scheme = view.scheme;
  info_.virtual_host = host;
  info_.route = target;
  info_.target = nullptr;
  info_.use(nullptr);
  stream_.nameCluster(view);
  return true;
}

void Router::tellOtherRoute(const route::Route* target, const route::RequestView& view) {
  StreamInfo::Uncommon& uncommon = info_.touchUncommon();
  uncommon.other_route = target;
  if (target && target->cluster) {
    const route::Target& to = target->cluster->pick(view);
    std::string_view name;
    if (to.cluster) {
      name = to.cluster.name();
    } else if (!view.header(to.cluster_header, &name)) {
      name = {};
    }
    uncommon.other_cluster = name;
  }
  info_.tells_other_route = true;
  // What the real server puts back, it adds to what is there.
  std::string scheme(info_.scheme);
  scheme.append(",").append(info_.scheme);
  uncommon.odd_scheme = std::move(scheme);
  info_.scheme = uncommon.odd_scheme;
}

bool Router::mayGoTo(const plan::InternalRedirect& policy, const route::Route& target, bool to_http,
                     bool from_http) {
  const std::string& name = target.name;
  for (const plan::RedirectPredicate& predicate : policy.predicates) {
    switch (predicate.kind) {
      case PredicateKind::PreviousRoutes: {
        auto& visited = stream_.redirects().visited;
        const std::pair<std::string, std::string> way(info_.route->name, name);
        if (std::find(visited.begin(), visited.end(), way) != visited.end()) return false;
        visited.push_back(way);
        break;
      }
      case PredicateKind::AllowedRoutes:
        if (std::find(predicate.routes.begin(), predicate.routes.end(), name) ==
            predicate.routes.end()) {
          return false;
        }
        break;
      case PredicateKind::SafeCrossScheme:
        if (from_http && !to_http) return false;
        break;
      case PredicateKind::FilterState:
        // Nobody here keeps such an object.
        if (!predicate.if_absent) return false;
        break;
    }
  }
  return true;
}

void Router::goElsewhere(http::SavedHead head, bool to_https) {
  abandon();
  dropKept();
  kept_trailers_.clear();
  kept_head_ = std::move(head);
  redirects_to_https_ = to_https;
  is_redirected_ = true;
  loop().defer(this);
}

// The host's answer is the client's.
void Router::noRedirect(Attempt& attempt) {
  follows_redirects_ = may_redirect_ = false;
  if (!retries_on_ && attempt.stream() && !info_.tunnels()) dropKept();
}

void Router::onDeferred() {
  if (!std::exchange(is_redirected_, false)) {
    pumpSplice();
    return;
  }
  if (!stream_.hasClient()) return;
  http::SavedHead head = std::move(kept_head_);
  http::SavedHead trailers = std::move(kept_trailers_);
  SlabChain body = std::move(kept_body_);
  stream_.beginAgain(std::move(head), redirects_to_https_ ? "https" : "http", std::move(trailers),
                     std::move(body));
}

}  // namespace fairlead::proxy
