#include "proxy/router.h"

#include "proxy/stream.h"
#include "proxy/strict_check.h"

namespace fairlead::proxy {

using http::HeaderEntry;
using http::HeaderMap;
using Counter = stats::Http::Counter;
using ClusterCounter = stats::Cluster::Counter;

namespace {

// A stream that rests keeps no more memory for bodies than this.
constexpr size_t kKeptBodyBytes = 16 * 1024;

}  // namespace

Router::Router(Stream& stream) : stream_(stream), info_(stream.info()) {}

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
    stream_.answer({404, {}, "route_not_found", Flag::NoRouteFound, false, info_.is_connect});
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
  log::debug(
      log::Component::Router, info_.tags(), "cluster '",
      [&]() -> std::string_view { return info_.cluster->settings().name; }, "' match for URL '",
      head.path, "'");
  if (info_.cluster->isRefusingForMaintenance()) {
    charge(503, nullptr);
    LocalReply answer{503, "maintenance mode", "maintenance_mode", Flag::UpstreamOverflow};
    answer.overloaded = true;
    stream_.answer(answer);
    return;
  }
  upstream::HttpPool* pool = info_.cluster->chooseHttpPool();
  if (!pool) {
    log::debug(log::Component::Router, info_.tags(), "no healthy upstream");
    charge(503, nullptr);
    stream_.answer({503, "no healthy upstream", "no_healthy_upstream", Flag::NoHealthyUpstream});
    return;
  }
  pool_ = pool;
  pool_->hold();
  info_.host = &pool->host();
  timeouts_ = chooseTimeouts(head.headers, info_);
  prepareUpstreamHead(head, view, info_, timeouts_);
  stream_.onForwarded(head);
  priority = static_cast<uint8_t>(info_.route->cluster->plan.priority);
  waiting_pool_ = pool;
  if (request_complete_ && timeouts_.route_ms > 0) {
    route_deadline_ = loop().now() + timeouts_.route_ms;
    watch(route_deadline_);
  }
  // With an idle connection at hand the head goes straight from where it was read; else it is kept.
  pool->newStream(*this);
  if (waiting_pool_ && PoolWaiter::isLinked()) {
    waiting_head_.save(head.method, head.path, head.authority, head.headers);
  }
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
  if (info_.target->slot >= 0) {
    info_.cluster = info_.server->cluster(info_.target->slot);
    if (!config().access_logs.empty()) {
      const auto slot = static_cast<size_t>(info_.target->slot);
      info_.cluster_name = config().routes->clusterNames()[slot];
    }
  } else {
    std::string_view name;
    if (view.header(info_.target->cluster_header, &name)) info_.cluster_name = name;
    info_.cluster = info_.context().clusters.find(info_.cluster_name);
    // A request must not reach hosts that expect HTTP/2 or TLS without it.
    if (info_.cluster && info_.cluster->settings().is_control_only) info_.cluster = nullptr;
  }
  if (info_.cluster) return true;
  log::debug(log::Component::Router, info_.tags(), "unknown cluster '", info_.cluster_name, "'");
  using NotFound = plan::ClusterAction::NotFound;
  info_.server->stats().add(Counter::NoCluster);
  const uint16_t status = action.plan.not_found == NotFound::NotFound              ? 404
                          : action.plan.not_found == NotFound::InternalServerError ? 500
                                                                                   : 503;
  stream_.answer({status, {}, "cluster_not_found", Flag::NoClusterFound});
  return false;
}

// ---- to a host ----

void Router::onPoolReady(http::ClientStream& stream, upstream::Host& host,
                         upstream::PooledConnection& connection) {
  waiting_pool_ = nullptr;
  upstream_ = &stream;
  info_.upstream_protocol = connection.codec().protocol();
  info_.host = &host;
  if (!config().access_logs.empty()) info_.upstream_local = connection.localAddress();
  if (timeouts_.exchange_ms > 0) {
    exchange_deadline_ = loop().now() + timeouts_.exchange_ms;
    watch(exchange_deadline_);
  }
  if (http::RequestHead* head = info_.live_head) {
    sendHead(head->method, head->path, head->authority, head->headers);
    return;
  }
  sendWaiting();
  if (client_paused_) onUpstreamWritable();
}

// The head, and what came of the rest, each as it was kept.
void Router::sendWaiting() {
  HeaderMap& headers = info_.context().headers;
  waiting_head_.restore(&headers);
  sendHead(waiting_head_.method(), waiting_head_.path(), waiting_head_.authority(), headers);
  const bool has_trailers = waiting_trailers_.isSet();
  if (has_body_ && (request_complete_ || !waiting_body_.empty())) {
    upstream_->sendData(waiting_body_, request_complete_ && !has_trailers);
  }
  if (has_trailers) {
    waiting_trailers_.restore(&headers);
    upstream_->sendTrailers(&headers);
  }
  // Before what is sent is cleared.
  upstream_->flush();
  waiting_body_.clear();
}

void Router::sendHead(std::string_view method, std::string_view path, std::string_view authority,
                      HeaderMap& headers) {
  // A CONNECT asks for its authority.
  upstream_->sendHead({method, info_.is_connect ? authority : path, authority, &headers},
                      !has_body_);
}

void Router::onData(std::string_view data, bool end) {
  if (end) requestComplete();
  if (upstream_) {
    upstream_->sendData(data, end);
    return;
  }
  if (!waiting_pool_) return;
  waiting_body_.append(data);
  if (waiting_body_.size() > config().buffer_limit_bytes) pauseClient();
}

void Router::onTrailers(HeaderMap& trailers) {
  requestComplete();
  if (upstream_) {
    upstream_->sendTrailers(&trailers);
  } else if (waiting_pool_) {
    waiting_trailers_.save({}, {}, {}, trailers);
  }
}

void Router::onReadEnd() {
  // A request that is complete has been sent whole; a tunnel's bytes go on after it.
  if (!upstream_ || (request_complete_ && !info_.is_connect)) return;
  upstream_->flush();
  if (upstream_->isOverHighWatermark()) pauseClient();
}

void Router::requestComplete() {
  if (request_complete_) return;
  request_complete_ = true;
  // The host's time runs from the end of the request on.
  if (timeouts_.route_ms > 0 && (upstream_ || waiting_pool_)) {
    route_deadline_ = loop().now() + timeouts_.route_ms;
    watch(route_deadline_);
  }
}

void Router::pauseClient() {
  if (client_paused_ || !stream_.hasClient()) return;
  client_paused_ = true;
  info_.cluster->stats().add(ClusterCounter::UpstreamFlowControlBackedUpTotal);
  stream_.pauseReading();
}

void Router::onUpstreamWritable() {
  if (!client_paused_ || !stream_.hasClient()) return;
  if (upstream_ && upstream_->isOverHighWatermark()) return;
  client_paused_ = false;
  info_.cluster->stats().add(ClusterCounter::UpstreamFlowControlDrainedTotal);
  stream_.resumeReading();
}

// ---- the end ----

void Router::abandon() {
  route_deadline_ = exchange_deadline_ = net::kNever;
  splice_.reset();
  if (upstream::HttpPool* pool = std::exchange(waiting_pool_, nullptr)) pool->cancel(*this);
  if (http::ClientStream* upstream = std::exchange(upstream_, nullptr)) upstream->reset();
}

void Router::clear() {
  Deferred::unlink();
  upstream_ = nullptr;
  waiting_pool_ = nullptr;
  if (upstream::HttpPool* pool = std::exchange(pool_, nullptr)) pool->letGo();
  splice_.reset();
  splice_left_ = 0;
  waiting_head_.clear();
  waiting_body_.clear();
  if (waiting_body_.capacity() > kKeptBodyBytes) waiting_body_ = {};
  waiting_trailers_.clear();
  timeouts_ = {};
  route_deadline_ = exchange_deadline_ = net::kNever;
  has_body_ = request_complete_ = client_paused_ = upstream_paused_ = false;
}

}  // namespace fairlead::proxy
