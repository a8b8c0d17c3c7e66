#include "proxy/router.h"

#include "proxy/destination.h"
#include "proxy/downstream.h"
#include "proxy/pool_use.h"
#include "proxy/stream.h"
#include "proxy/strict_check.h"

namespace fairlead::proxy {

using http::HeaderEntry;
using http::HeaderMap;
using Counter = stats::Http::Counter;

Router::Router(Stream& stream)
    : stream_(stream), info_(stream.info()), first_(*this, info_.upstream_bytes) {}

void Router::onHead(http::RequestHead& head, const route::RequestView& view, bool end) {
  has_body_ = !end;
  request_complete_ = end;
  followRoute(head, view);
}

void Router::followRoute(http::RequestHead& head, const route::RequestView& view) {
  stats::Shard<stats::Http>& stats = info_.server->stats();
  const route::Route* route = info_.route;
  stats.add(Counter::RqTotal);
  if (!route && info_.virtual_host && stream_.requiresTls(view)) {
    LocalReply answer{301, {}, "direct_response"};
    answer.location = route::tlsLocation(view, info_.context().arena);
    stats.add(Counter::RqDirectResponse);
    stream_.answer(answer);
  } else if (!route) {
    stats.add(Counter::NoRoute);
    stream_.answer({404, {}, "route_not_found", Flag::NoRouteFound});
  } else if (route->redirect) {
    stats.add(Counter::RqDirectResponse);
    LocalReply answer{static_cast<uint16_t>(route->redirect->plan.status), {}, "direct_response"};
    answer.location = route->redirect->location(view, route->match, info_.context().arena);
    stream_.answer(answer);
  } else if (route->direct_response) {
    stats.add(Counter::RqDirectResponse);
    const plan::DirectResponse& response = *route->direct_response;
    LocalReply answer{static_cast<uint16_t>(response.status), response.body, "direct_response"};
    if (response.status == 201 || response.status / 100 == 3) {
      // Such an answer says where: here.
      answer.location = route::ownLocation(view, info_.context().arena);
    }
    stream_.answer(answer);
  } else if (route->cluster) {
    forward(head, view);
  } else {
    stream_.answer({404, {}, "route_not_found", Flag::NoRouteFound});
  }
}

// ---- to a cluster ----

void Router::forward(http::RequestHead& head, const route::RequestView& view) {
  if (!checkStrictly(head.headers) || !findCluster(view)) return;
  if (info_.server->overload().isActive() && isShed()) return;
  log::debug(
      log::Component::Router, info_.tags(), "cluster '",
      [&]() -> std::string_view { return info_.cluster->settings().name; }, "' match for URL '",
      head.path, "'");
  if (info_.cluster->isRefusingForMaintenance()) {
    answerMaintenance();
    return;
  }
  upstream::HttpPool* pool = info_.cluster->asksRequests()
                                 ? chooseByWish(view)
                                 : info_.cluster->chooseHttpPool(info_.clientVersion());
  if (pool) info_.host = &pool->host();
  info_.attempts = 1;
  timeouts_ = chooseTimeouts(head.headers, info_);
  prepareUpstreamHead(head, view, info_, timeouts_);
  const RetryWishes wishes = takeRetryWishes(head.headers);
  if (!pool) {
    answerNoHost();
    return;
  }
  if (config().plan.scheme_of_upstream) {
    const auto& transport = info_.cluster->cluster().transport(pool->host().settings());
    info_.scheme = net::isTls(transport) ? "https" : "http";
  }
  if (hasSpecialUses(info_.cluster->cluster())) {
    use_ = poolUseOf(head.authority, head.headers, info_.cluster->cluster(), *info_.downstream);
  }
  use_.is_high = info_.route->cluster->plan.priority != 0;
  terminates_ = info_.is_upgrade ? nullptr : info_.route->cluster->terminates(head.method);
  use_.tunnels = terminates_ != nullptr;
  if (!use_.isCommon()) pool = &info_.cluster->poolOf(*pool, use_);
  beginRetries(head, wishes);
  if (!info_.route->cluster->mirrors.empty()) prepareMirrors(head);
  stream_.onForwarded(head);
  send(head, *pool);
  if (!mirrors_.empty()) startMirrors();
}

upstream::HttpPool* Router::chooseByWish(const route::RequestView& view) {
  if (const plan::DestinationHosts* const rules = info_.cluster->destinationRules()) {
    if (!wanted_) wanted_ = std::make_unique<Wanted>();
    wanted_->destination = findDestination(*rules, view.headers, *info_.downstream, clusterStats());
  }
  if (info_.cluster->goesByHash()) {
    if (!wanted_) wanted_ = std::make_unique<Wanted>();
    const net::DownstreamConnection& connection = *info_.downstream;
    wanted_->hash = info_.route->cluster->hash_policies.hash({.request = view,
                                                              .client = info_.client_address,
                                                              .peer = connection.remote(),
                                                              .local = connection.local()},
                                                             &wanted_->new_cookies);
  }
  return info_.cluster->chooseHttpPool(info_.clientVersion(), wish());
}

upstream::HostWish Router::wish() const {
  if (!wanted_) return {.criteria = &info_.target->criteria};
  return {.hash = wanted_->hash,
          .criteria = &info_.target->criteria,
          .destination = wanted_->destination ? &*wanted_->destination : nullptr};
}

void Router::tellNewCookies(HeaderMap& headers) const {
  if (!wanted_) return;
  for (const std::string& cookie : wanted_->new_cookies) {
    headers.add(http::internHeader("set-cookie"), "set-cookie", cookie);
  }
}

bool Router::isShed() {
  using Subject = net::Overload::Subject;
  Random& random = info_.context().upstream.random;
  if (!info_.server->overload().sheds(Subject::PointDownstreamFilterCheck, random)) return false;
  info_.server->stats().add(Counter::RqOverloadLocalReply);
  stream_.answer({503, "envoy overloaded", "overload"});
  return true;
}

// With an idle connection at hand the head goes straight from where it was read; where it may be
// needed later it is kept.
void Router::send(http::RequestHead& head, upstream::HttpPool& pool) {
  if (retries_on_) kept_head_.save(head.method, head.path, head.authority, head.headers);
  if (isTimed() && timeouts_.route_ms > 0) {
    route_deadline_ = loop().now() + timeouts_.route_ms;
    watch(route_deadline_);
  }
  start(first_, pool);
  if (!kept_head_.isSet() && current_ && current_->isWaiting()) {
    kept_head_.save(head.method, head.path, head.authority, head.headers);
  }
}

void Router::answerMaintenance() {
  charge(503, nullptr);
  LocalReply answer{503, "maintenance mode", "maintenance_mode", Flag::UpstreamOverflow};
  answer.overloaded = true;
  stream_.answer(answer);
}

void Router::answerNoHost() {
  log::debug(log::Component::Router, info_.tags(), "no healthy upstream");
  charge(503, nullptr);
  LocalReply answer{503, "no healthy upstream", "no_healthy_upstream", Flag::NoHealthyUpstream};
  answer.is_of_router = true;
  stream_.answer(answer);
}

// False: a header makes no sense, and was answered.
bool Router::checkStrictly(const HeaderMap& headers) {
  const HeaderEntry* wrong = findSenseless(headers, config().router.strict_check_headers);
  if (!wrong) return true;
  std::string body = "invalid header '";
  body.append(wrong->name()).append("' with value '").append(wrong->value()).append("'");
  std::string details = "request_headers_failed_strict_check{";
  details.append(wrong->name()).append("}");
  stream_.answer({400, body, details, Flag::InvalidEnvoyRequestHeaders, false, true});
  return false;
}

// False: there is none, which was answered.
bool Router::findCluster(const route::RequestView& view) {
  const route::ClusterAction& action = *info_.route->cluster;
  info_.target = &action.pick(view);
  if (const NameIds::Ref& named = info_.target->cluster) {
    if (!config().access_logs.empty()) info_.touchUncommon().cluster_name = named.name();
  } else {
    std::string_view name;
    if (view.header(info_.target->cluster_header, &name)) info_.touchUncommon().cluster_name = name;
  }
  info_.use(info_.findTarget());
  if (info_.cluster) return true;
  log::debug(log::Component::Router, info_.tags(), "unknown cluster '",
             info_.uncommon().cluster_name, "'");
  using NotFound = plan::ClusterAction::NotFound;
  info_.server->stats().add(Counter::NoCluster);
  const uint16_t status = action.plan.not_found == NotFound::NotFound              ? 404
                          : action.plan.not_found == NotFound::InternalServerError ? 500
                                                                                   : 503;
  stream_.answer({status, {}, "cluster_not_found", Flag::NoClusterFound});
  return false;
}

// ---- the end ----

void Router::prefetch(http::ResponseSink::Ahead ahead) const { stream_.prefetch(ahead); }

void Router::abandon() {
  route_deadline_ = retry_at_ = net::kNever;
  splice_.reset();
  current_ = nullptr;
  forEachActive([](Attempt& attempt) { attempt.abandon(); });
  endRetries();
}

void Router::clear() {
  Deferred::unlink();
  abandon();
  first_.release();
  for (const auto& attempt : more_) attempt->release();
  leaveMirrors();
  splice_left_ = 0;
  kept_head_.clear();
  use_ = {};
  dropKept();
  kept_trailers_.clear();
  timeouts_ = {};
  retry_is_after_timeout_ = false;
  terminates_ = nullptr;
  if (wanted_) wanted_->clear();
  has_body_ = request_complete_ = tunnel_open_ = client_paused_ = upstream_paused_ = false;
}

}  // namespace fairlead::proxy
