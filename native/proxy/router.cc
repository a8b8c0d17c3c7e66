#include "proxy/router.h"

#include <algorithm>

#include "base/text.h"
#include "http/header_syntax.h"
#include "proxy/downstream.h"
#include "proxy/pool_use.h"
#include "proxy/request_rules.h"
#include "proxy/stream.h"
#include "proxy/strict_check.h"
#include "proxy/try_filters.h"
#include "upstream/state_wishes.h"

namespace fairlead::proxy {

using http::HeaderEntry;
using http::HeaderId;
using http::HeaderMap;
using Counter = stats::Http::Counter;

namespace {

const std::string& dropHeader(bool is_all) {
  static const std::string& some = *new std::string(http::ownHeader("drop-overload"));
  static const std::string& all = *new std::string(http::ownHeader("unconditional-drop-overload"));
  return is_all ? all : some;
}

// One that was made for a request which does not ask it for a connection.
void dropUnused(upstream::HttpPool& pool) {
  if (pool.goesWhenEmpty() && pool.isEmpty()) pool.cluster().dropEmptyPoolsSoon();
}

// Of a request whose own scheme hosts are not told.
std::string_view schemeToHosts(const HeaderMap& headers, bool is_secure) {
  const HeaderEntry* const forwarded = headers.find(HeaderId::XForwardedProto);
  if (forwarded && equalsIgnoreCase(forwarded->value(), "https")) return "https";
  if (forwarded && equalsIgnoreCase(forwarded->value(), "http")) return "http";
  return is_secure ? "https" : "http";
}

}  // namespace

Router::Router(Stream& stream)
    : stream_(stream), info_(stream.info()), first_(*this, info_.upstream_bytes) {}

Router::~Router() = default;

void Router::onHead(http::RequestHead& head, const route::RequestView& view, bool end) {
  has_body_ = !end;
  request_complete_ = end;
  followRoute(head, view);
}

void Router::answerInPlace(const LocalReply& reply, bool is_of_route) {
  info_.noteReplyOwner(config().router.name);
  stream_.answer(reply, is_of_route);
}

void Router::followRoute(http::RequestHead& head, const route::RequestView& view) {
  stats::Shard<stats::Http>& stats = info_.server->stats();
  const route::Route* route = info_.route;
  // A CONNECT without one has no address that it could be sent to.
  const bool has_path = !view.path.empty();
  stats.add(Counter::RqTotal);
  if (!route && info_.virtual_host && stream_.requiresTls(view)) {
    LocalReply answer{301, {}, "direct_response"};
    if (has_path) answer.location = route::tlsLocation(view, info_.context().arena);
    stats.add(Counter::RqDirectResponse);
    answerInPlace(answer);
  } else if (!route) {
    stats.add(Counter::NoRoute);
    answerInPlace({404, {}, "route_not_found", Flag::NoRouteFound});
  } else if (route->redirect) {
    stats.add(Counter::RqDirectResponse);
    LocalReply answer{static_cast<uint16_t>(route->redirect->plan.status), {}, "direct_response"};
    if (has_path) {
      answer.location = route->redirect->location(view, route->match, info_.context().arena);
      rewriteRedirected(head, view);
    }
    answerInPlace(answer, true);
  } else if (route->direct_response) {
    stats.add(Counter::RqDirectResponse);
    const plan::DirectResponse& response = *route->direct_response;
    LocalReply answer{static_cast<uint16_t>(response.status), response.body, "direct_response"};
    std::string body;
    if (route->direct_body) [[unlikely]] {
      format::FormatContext format;
      info_.fill(&format);
      // Of an answer that is just being made: its status is not there yet, as in the real server.
      format.local_reply_body = response.body;
      route->direct_body->write(format, &body);
      answer.body = body;
      answer.content_type = route->direct_body->contentType();
    }
    if (has_path && (response.status == 201 || response.status / 100 == 3)) {
      // Such an answer says where: here.
      answer.location = route::ownLocation(view, info_.context().arena);
    }
    answerInPlace(answer, true);
  } else if (route->cluster) {
    forward(head, view);
  } else {
    answerInPlace({404, {}, "route_not_found", Flag::NoRouteFound});
  }
}

// As the real server has it, the request itself has the path that its client is sent to.
void Router::rewriteRedirected(http::RequestHead& head, const route::RequestView& view) {
  const route::Rewrite& rewrite = info_.route->redirect->path_rewrite;
  using Kind = route::Rewrite::Kind;
  if (rewrite.kind == Kind::None || rewrite.kind == Kind::Format) return;
  const std::string_view path =
      rewrite.apply(view, head.path, info_.route->match, info_.context().arena);
  if (!config().router.suppress_envoy_headers) {
    head.headers.set(HeaderId::XEnvoyOriginalPath, head.path);
  }
  head.path = path;
}

// ---- to a cluster ----

void Router::forward(http::RequestHead& head, const route::RequestView& view) {
  if (!checkStrictly(head.headers, view) || !findCluster(view)) return;
  info_.group = info_.virtual_host->groupOf(view);
  log::debug(
      log::Component::Router, info_.tags(), "cluster '",
      [&]() -> std::string_view { return info_.cluster->settings().name; }, "' match for URL '",
      head.path, "'");
  if (info_.cluster->isRefusingForMaintenance()) {
    answerMaintenance();
    return;
  }
  if (info_.cluster->cluster().drops(info_.context().upstream.random)) {
    answerDropped();
    return;
  }
  if (info_.cluster->namedHosts() && waitsForHost(head)) return;
  forwardTo(head, view, choosePool(view));
}

upstream::HttpPool* Router::choosePool(const route::RequestView& view) {
  const filters::FilterNotes::OverrideHost* const named = stream_.overrideHost();
  return info_.cluster->asksRequests() || named
             ? chooseByWish(view, named)
             : info_.cluster->chooseHttpPool(info_.clientVersion());
}

void Router::forwardTo(http::RequestHead& head, const route::RequestView& view,
                       upstream::HttpPool* pool) {
  if (pool) {
    info_.host = &pool->host();
    if (info_.cluster->overrideRules()) tellChosenHost(pool->host());
  }
  info_.attempts = 1;
  timeouts_ = chooseTimeouts(head.headers, info_);
  prepareUpstreamHead(head, view, info_, timeouts_);
  const RetryWishes wishes = takeRetryWishes(head.headers);
  if (!pool) {
    const filters::FilterNotes::OverrideHost* const named = stream_.overrideHost();
    answerNoHost(named && named->is_strict ? named->strict_status : 503);
    return;
  }
  if (config().plan.scheme_of_upstream) {
    const auto& transport = pool->cluster().cluster().transport(pool->host().settings());
    info_.scheme = net::isTls(transport) ? "https" : "http";
  } else if (info_.scheme != "http" && info_.scheme != "https") {
    info_.scheme = schemeToHosts(head.headers, info_.downstream->tls() != nullptr);
  }
  const upstream::Cluster& of_host = pool->cluster().cluster();
  if (hasSpecialUses(of_host)) {
    use_ = poolUseOf(head.authority, head.headers, of_host, *info_.downstream);
  }
  if (net::isSourceWanted()) use_.source = stream_.source();
  if (net::isStateForHosts()) {
    addStates(info_.downstream->filterState(), info_.uncommon().filter_state.get(), &use_);
  }
  use_.is_high = info_.route->cluster->plan.priority != 0;
  terminates_ = info_.is_upgrade ? nullptr : info_.route->cluster->terminates(head.method);
  use_.tunnels = terminates_ != nullptr;
  if (!use_.isCommon()) pool = &pool->cluster().poolOf(*pool, use_);
  if (!pool->cluster().admits(*pool)) {
    dropUnused(*pool);
    info_.host = nullptr;
    answerNoHost(503);
    return;
  }
  const bool is_held_back = net::isStateForHosts() && isHeldBack();
  if (is_held_back || (info_.server->overload().isActive() && isShed())) {
    dropUnused(*pool);
    return;
  }
  beginRetries(head, wishes);
  follows_redirects_ = may_redirect_ =
      info_.route->cluster->plan.internal_redirect && !info_.tunnels();
  if (is_late_) boundKept();
  if (!mirrorsOf(info_).empty()) prepareMirrors(head);
  if (measures()) measureRequest(head);
  stream_.onForwarded(head);
  const bool have_mirrors_begun = is_late_;
  if (have_mirrors_begun && !mirrors_.empty()) startMirrorsLate();
  send(head, *pool);
  if (!mirrors_.empty() && !have_mirrors_begun) startMirrors();
}

// What clients send was looked at as it came; what the configuration and filters make of it was
// not.
bool Router::mayBeBroken() const {
  const route::ClusterAction& action = *info_.route->cluster;
  return info_.target->chain.changesRequest() ||
         action.path_rewrite.kind != plan::PathRewrite::Kind::None ||
         action.host_rewrite.kind != plan::HostRewrite::Kind::None || !config().filters.empty() ||
         !config().early_changes.empty() || tryFilters();
}

// It was answered.
bool Router::isBroken(std::string_view method, std::string_view path, std::string_view authority,
                      const HeaderMap& headers) {
  const std::optional<std::string> why = http::brokenHeader(method, path, authority, headers);
  if (!why) return false;
  std::string details = "filter_removed_required_request_headers{" + *why + "}";
  std::ranges::replace_if(details, [](char c) { return static_cast<uint8_t>(c) <= ' '; }, '_');
  Arena& arena = info_.context().arena;
  answerInPlace({503, arena.copy(*why), arena.copy(details), Flag::DownstreamProtocolError});
  return true;
}

bool Router::isShed() {
  using Subject = net::Overload::Subject;
  Random& random = info_.context().upstream.random;
  if (!info_.server->overload().sheds(Subject::PointDownstreamFilterCheck, random)) return false;
  info_.server->stats().add(Counter::RqOverloadLocalReply);
  // Nobody has asked it for a connection.
  info_.host = nullptr;
  LocalReply answer{503, "envoy overloaded", "overload"};
  answer.is_of_router = true;
  answerInPlace(answer);
  return true;
}

// With an idle connection at hand the head goes straight from where it was read; where it may be
// needed later it is kept.
void Router::send(http::RequestHead& head, upstream::HttpPool& pool) {
  if (keepsRequest() || is_late_) {
    kept_head_.save(head.method, head.path, head.authority, head.headers);
  }
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
  info_.cluster->cluster().countShed();
  charge(503, nullptr);
  LocalReply answer{503, "maintenance mode", "maintenance_mode", Flag::UpstreamOverflow};
  answer.overloaded = true;
  answerInPlace(answer);
}

void Router::answerDropped() {
  constexpr uint32_t kAll = 1'000'000;
  const bool is_all = info_.cluster->cluster().dropShare() >= kAll;
  charge(503, nullptr);
  LocalReply answer{503, is_all ? "unconditional drop overload" : "drop overload",
                    is_all ? "unconditional_drop_overload" : "drop_overload",
                    is_all ? Flag::UnconditionalDropOverload : Flag::DropOverLoad};
  HeaderMap& headers = info_.context().tried.headers;
  headers.clear();
  if (!config().router.suppress_envoy_headers) {
    headers.add(http::HeaderId::Other, dropHeader(is_all), "true");
  }
  answer.headers = &headers;
  answerInPlace(answer);
}

void Router::answerNoHost(uint16_t status) {
  log::debug(log::Component::Router, info_.tags(), "no healthy upstream");
  charge(status, nullptr);
  std::string_view details = "no_healthy_upstream";
  if (wanted_ && !wanted_->no_host.empty()) details = wanted_->no_host;
  LocalReply answer{status, "no healthy upstream", details, Flag::NoHealthyUpstream};
  answer.is_of_router = true;
  answerInPlace(answer);
}

// False: a header makes no sense, and was answered.
bool Router::checkStrictly(const HeaderMap& headers, const route::RequestView& view) {
  const HeaderEntry* wrong = findSenseless(headers, config().router.strict_check_headers);
  if (!wrong) return true;
  std::string body = "invalid header '";
  body.append(wrong->name()).append("' with value '").append(wrong->value()).append("'");
  std::string details = "request_headers_failed_strict_check{";
  details.append(wrong->name()).append("}");
  stream_.nameCluster(view);
  answerInPlace({400, body, details, Flag::InvalidEnvoyRequestHeaders, false, true});
  return false;
}

// False: there is none, which was answered.
bool Router::findCluster(const route::RequestView& view) {
  const route::ClusterAction& action = *info_.route->cluster;
  info_.target = &action.pick(view);
  const NameIds::Ref& named = info_.target->cluster;
  if (std::string_view name; !named && view.header(info_.target->cluster_header, &name)) {
    info_.touchUncommon().cluster_name = name;
  }
  info_.use(info_.findTarget());
  if (info_.cluster) return true;
  log::debug(
      log::Component::Router, info_.tags(), "unknown cluster '",
      [&]() -> std::string_view {
        return named ? std::string_view(named.name()) : info_.uncommon().cluster_name;
      },
      "'");
  using NotFound = plan::ClusterAction::NotFound;
  info_.server->stats().add(Counter::NoCluster);
  const uint16_t status = action.plan.not_found == NotFound::NotFound              ? 404
                          : action.plan.not_found == NotFound::InternalServerError ? 500
                                                                                   : 503;
  answerInPlace({status, {}, "cluster_not_found", Flag::NoClusterFound});
  return false;
}

// ---- the end ----

void Router::prefetch(http::ResponseSink::Ahead ahead) const { stream_.prefetch(ahead); }

void Router::abandon() {
  route_deadline_ = retry_at_ = net::kNever;
  is_redirected_ = false;
  splice_.reset();
  current_ = nullptr;
  if (info_.trace) cancelTraces();
  if (host_wait_) host_wait_->stop();
  is_late_ = false;
  if (try_logs_) try_logs_->endAll();
  forEachActive([](Attempt& attempt) { attempt.abandon(); });
  if (try_filters_) dropTryFilters();
  endRetries();
}

void Router::settle() {
  Deferred::unlink();
  abandon();
  stopTryFilters();
  leaveMirrors();
  dropKept();
}

void Router::clear() {
  settle();
  endTryFilters();
  first_.release();
  for (const auto& attempt : more_) attempt->release();
  splice_left_ = 0;
  kept_head_.clear();
  use_ = {};
  kept_trailers_.clear();
  timeouts_ = {};
  retry_is_after_timeout_ = follows_redirects_ = may_redirect_ = false;
  terminates_ = nullptr;
  if (wanted_) wanted_->clear();
  has_body_ = request_complete_ = tunnel_open_ = is_canary_ = awaits_grpc_status_ = false;
  client_paused_ = upstream_paused_ = false;
}

}  // namespace fairlead::proxy
