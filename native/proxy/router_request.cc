// A router's way to the host: the request as it comes, and what was kept of it.
#include <algorithm>

#include "net/proxy_header_text.h"
#include "net/state_keys.h"
#include "proxy/downstream.h"
#include "proxy/extended_connect.h"
#include "proxy/router.h"
#include "proxy/stream.h"
#include "proxy/try_filters.h"

namespace fairlead::proxy {

using http::HeaderMap;
using ClusterCounter = stats::Cluster::Counter;

namespace {

const std::string& notForwardedHeader() {
  static const std::string& name = *new std::string(http::ownHeader("not-forwarded"));
  return name;
}

}  // namespace

// It was answered.
bool Router::isHeldBack() {
  const std::string* const held =
      net::findAs(net::FilterState::Form::Hidden, net::kDebugKey,
                  info_.uncommon().filter_state.get(), info_.downstream->filterState());
  if (!held || *held != "true") return false;
  HeaderMap& headers = info_.context().tried.headers;
  headers.clear();
  headers.add(http::HeaderId::Other, notForwardedHeader(), "true");
  LocalReply answer{204, {}, filters::kEmptyDetails};
  // Nobody was asked.
  info_.host = nullptr;
  answer.headers = &headers;
  answerInPlace(answer);
  return true;
}

void Router::start(Attempt& attempt, upstream::HttpPool& pool) {
  current_ = &attempt;
  info_.host = &pool.host();
  info_.forgetTransport();
  if (info_.trace) traceTry(attempt);
  attempt.began_at = loop().now();
  noteTry();
  if (!config().upstream_logs.empty()) {
    if (!try_logs_) try_logs_ = std::make_unique<TryLogs>(info_);
    try_logs_->begin(attempt, pool.host());
    watch(try_logs_->due());
  }
  if (const FilterList* const filters = tryFilters()) {
    startFiltered(attempt, pool, *filters);
    return;
  }
  attempt.start(pool, static_cast<uint8_t>(info_.route->cluster->plan.priority));
}

void Router::noteReady(Attempt& attempt, upstream::PooledConnection& connection) {
  info_.host = &attempt.host();
  noteConnection(connection);
  info_.upstream_protocol = connection.codec().protocol();
  if (!config().access_logs.empty() || info_.target->chain.changesResponse()) {
    info_.touchUncommon().upstream_local = connection.localAddress();
  }
  if (net::SharedTlsInfo tls = connection.codec().connection().tls()) {
    info_.touchUncommon().upstream_tls = std::move(tls);
  }
  if (try_logs_) try_logs_->onReady(attempt);
  addToGroups(stats::VirtualCluster::Counter::UpstreamRqTotal);
  if (retries_on_) retry_->hosts().onAttempted(attempt.host());
  tellOutlier(&attempt.host(), upstream::OutlierResult::Connected);
  if (timeouts_.exchange_ms > 0) {
    attempt.exchange_deadline = loop().now() + timeouts_.exchange_ms;
    watch(attempt.exchange_deadline);
  }
  if (isTimed()) watchTry(attempt);
}

void Router::onAttemptReady(Attempt& attempt, upstream::PooledConnection& connection) {
  noteReady(attempt, connection);
  if (http::RequestHead* head = liveHead()) {
    if (info_.trace) tellTrace(attempt, head->path, head->headers);
    sendHead(*attempt.stream(), head->method, head->path, head->authority, head->headers,
             !has_body_);
    return;
  }
  sendKept(attempt);
  if (client_paused_) resumeClient();
}

// ---- what logs may ask of it ----

void Router::noteTry() {
  format::Exchange* const exchange = info_.exchange();
  if (!exchange) return;
  exchange->forgetUpstream();
  exchange->tried.clear();
  exchange->at(format::TimePoint::PoolBegin) = loop().nowMicros();
}

void Router::noteConnection(upstream::PooledConnection& connection) {
  using Point = format::TimePoint;
  format::Exchange* const exchange = info_.exchange();
  if (!exchange) return;
  const uint64_t now_us = loop().nowMicros();
  exchange->at(Point::PoolReady) = exchange->at(Point::UpstreamTxBegin) = now_us;
  exchange->at(Point::UpstreamConnectBegin) = connection.startedAtMicros();
  exchange->at(Point::UpstreamConnectEnd) = connection.establishedAtMicros();
  if (connection.codec().connection().tls()) {
    exchange->at(Point::UpstreamHandshakeEnd) = connection.establishedAtMicros();
  }
  exchange->tried.push_back({info_.host->text(), info_.host->settings().hostname, connection.id()});
}

std::string_view Router::restoreKeptHead(Attempt& attempt, const upstream::Host& host,
                                         HeaderMap& headers) {
  kept_head_.restore(&headers);
  std::string_view authority = kept_head_.authority();
  if (info_.attempts > 1) {
    prepareRetryHead(headers, info_, timeouts_, retry_is_after_timeout_);
    const route::HostRewrite& rewrite = info_.route->cluster->host_rewrite;
    const std::string_view own = rewrite.ofHost(host.settings().hostname);
    if (!own.empty()) authority = own;
  }
  if (info_.trace) tellTrace(attempt, kept_head_.path(), headers);
  // What is said of the request after this says what its host was told.
  if ((info_.trace || info_.attempts > 1) && info_.uncommon().request.isSet()) {
    info_.touchUncommon().request.save(kept_head_.method(), kept_head_.path(), authority, headers);
  }
  return authority;
}

// The head, and what came of the rest, each as it was kept.
void Router::sendKept(Attempt& attempt) {
  http::ClientStream& to = *attempt.stream();
  HeaderMap& headers = info_.context().headers;
  const std::string_view authority = restoreKeptHead(attempt, attempt.host(), headers);
  if (!sendHead(to, kept_head_.method(), kept_head_.path(), authority, headers, !has_body_)) return;
  const bool has_trailers = kept_trailers_.isSet();
  if (!info_.tunnels()) {
    kept_body_.forEachPiece([&to](std::string_view piece) { to.sendData(piece, false); });
    if (try_logs_) try_logs_->onSent(attempt, kept_body_.size());
  }
  if (has_body_ && request_complete_ && !has_trailers) to.sendData({}, true);
  if (has_trailers) {
    kept_trailers_.restore(&headers);
    to.sendTrailers(&headers);
  }
  if (request_complete_) info_.mark(format::TimePoint::UpstreamTxEnd);
  // Before what is sent is cleared.
  to.flush();
  if (!keepsRequest() && !info_.tunnels()) dropKept();
}

// As the real server, whose codec looks: a connection is asked for before, and is of no use then.
bool Router::sendHead(http::ClientStream& to, std::string_view method, std::string_view path,
                      std::string_view authority, HeaderMap& headers, bool end) {
  if (mayBeBroken() && isBroken(method, path, authority, headers)) return false;
  // A CONNECT asks for its authority.
  const std::string_view target = info_.is_connect ? authority : path;
  http::RequestOut head{method, target, authority, &headers, info_.scheme};
  head.upgrades = info_.is_upgrade;
  head.names = info_.requestNames();
  head.proper_case = info_.cluster->settings().proper_case_words;
  if (terminates_) head.tunnel_preamble = tunnelPreamble();
  if (info_.is_upgrade && speaksHttp2()) {
    sendExtendedConnect(to, head, end);
  } else {
    to.sendHead(head, end);
  }
  if (end) info_.mark(format::TimePoint::UpstreamTxEnd);
  return true;
}

// ---- a tunnel ----

size_t Router::waitingMemory() const {
  size_t bytes = 0;
  const auto add = [&bytes](const Attempt& attempt) {
    if (const http::ClientStream* host = attempt.stream()) bytes += host->waitingMemory();
  };
  add(first_);
  for (const auto& attempt : more_) add(*attempt);
  return bytes;
}

bool Router::speaksHttp2() const { return info_.upstream_protocol == "HTTP/2"; }

// Tells a host that hears nothing of HTTP whom the tunnel is for.
std::string_view Router::tunnelPreamble() const {
  if (!terminates_->proxy_protocol) return {};
  const plan::ProxyProtocolSocket& plan = *terminates_->proxy_protocol;
  const net::SharedProxiedClient client = info_.downstream->asProxied();
  const std::string text = plan.is_version_2
                               ? net::proxyHeaderV2(client.get(), plan).bytes
                               : net::proxyHeaderV1(client->source, client->destination);
  return info_.context().arena.copy(text);
}

// What comes before the host has agreed to it waits, and is not sent to one that does not.
void Router::keepForTunnel(std::string_view data) {
  if (stream_.hasAnswerBegun() || !isTrying()) return;
  kept_body_.append(loop().slabs(), data);
  if (kept_body_.size() > info_.bufferLimit()) pauseClient();
}

void Router::openTunnel(Attempt& attempt) {
  tunnel_open_ = true;
  // It is as long as its ends like.
  route_deadline_ = net::kNever;
  http::ClientStream& to = *attempt.stream();
  kept_body_.forEachPiece([&to](std::string_view piece) { to.sendData(piece, false); });
  if (try_logs_) try_logs_->onSent(attempt, kept_body_.size());
  if (request_complete_) to.sendData({}, true);
  to.flush();
  dropKept();
}

// ---- what follows the head ----

bool Router::isTooEarly() const {
  return info_.is_connect && !tunnel_open_ && config().router.rejects_early_data &&
         !stream_.hasAnswerBegun();
}

void Router::onData(std::string_view data, bool end) {
  if (end) requestComplete();
  if (isWaitingForHost()) return keepForHost(data);
  if (!data.empty() && isTooEarly()) return answerInPlace({400, {}, "early_connect_data"});
  if (!mirrors_.empty()) {
    // One connection's bytes are gathered at a time.
    if (hostStream()) hostStream()->flush();
    for (Mirror* mirror : mirrors_) mirror->onData(data, end);
    if (end) leaveMirrors();
  }
  TryFilters* const filters = try_filters_ && current_ ? filtersOf(*current_) : nullptr;
  if (info_.tunnels() && !tunnel_open_ && !filters) {
    keepForTunnel(data);
    return;
  }
  if (keepsRequest() && !info_.tunnels() && !keepForRetry(data)) return;
  if (filters) {
    if (current_ && filtersOf(*current_) == filters) filters->onData(data, end);
    return;
  }
  if (http::ClientStream* to = hostStream()) {
    if (end) info_.mark(format::TimePoint::UpstreamTxEnd);
    if (try_logs_) try_logs_->onSent(*current_, data.size());
    to->sendData(data, end);
    return;
  }
  if (!current_ || !current_->isWaiting()) return;
  if (!keepsRequest()) kept_body_.append(loop().slabs(), data);
  if (kept_body_.size() > info_.bufferLimit()) pauseClient();
}

bool Router::mayKeep(size_t bytes) const {
  const plan::ClusterAction& plan = info_.route->cluster->plan;
  uint64_t limit = info_.requestLimit();
  if (plan.body_override_bytes) {
    limit = *plan.body_override_bytes;
  } else if (plan.body_limit_bytes) {
    limit = std::min<uint64_t>(limit, *plan.body_limit_bytes);
  }
  return bytes <= limit;
}

// A body that is too long to be kept is not sent again. False: there is nobody to send it to
// either.
bool Router::keepForRetry(std::string_view data) {
  if (mayKeep(kept_body_.size() + data.size())) {
    kept_body_.append(loop().slabs(), data);
    return true;
  }
  clusterStats().add(ClusterCounter::RetryOrShadowAbandoned);
  const bool has_host = hostStream() != nullptr;
  if (current_) {
    endRetries();
    may_redirect_ = false;
    if (has_host || (try_filters_ && filtersOf(*current_))) dropKept();
    return true;
  }
  LocalReply answer{507, "exceeded request buffer limit while retrying upstream",
                    "request_payload_exceeded_retry_buffer_limit"};
  answer.is_of_router = true;
  answerInPlace(answer);
  return false;
}

void Router::dropKept() {
  if (!kept_body_.empty()) kept_body_.clear(loop().slabs());
}

void Router::onTrailers(HeaderMap& trailers) {
  requestComplete();
  if (isWaitingForHost()) return kept_trailers_.save({}, {}, {}, trailers);
  if (!mirrors_.empty()) {
    if (hostStream()) hostStream()->flush();
    for (Mirror* mirror : mirrors_) mirror->onTrailers(trailers);
    leaveMirrors();
  }
  if (TryFilters* const filters = try_filters_ && current_ ? filtersOf(*current_) : nullptr) {
    if (keepsRequest()) kept_trailers_.save({}, {}, {}, trailers);
    filters->onTrailers(trailers);
    return;
  }
  if (!hostStream() || keepsRequest()) kept_trailers_.save({}, {}, {}, trailers);
  http::ClientStream* const to = hostStream();
  if (!to) return;
  info_.mark(format::TimePoint::UpstreamTxEnd);
  to->sendTrailers(&trailers);
}

void Router::onReadEnd() {
  if (!mirrors_.empty() && isMirrorBehind()) pauseClient();
  http::ClientStream* const to = hostStream();
  // A request that is complete has been sent whole.
  if (!to || request_complete_) return;
  to->flush();
  if (to->isOverHighWatermark()) pauseClient();
}

void Router::requestComplete() {
  if (request_complete_) return;
  request_complete_ = true;
  if (info_.trace) info_.trace->onForwarded(loop().nowMicros());
  if (!isTrying()) return;
  // The host's time runs from the end of the request on.
  if (timeouts_.route_ms > 0) {
    route_deadline_ = loop().now() + timeouts_.route_ms;
    watch(route_deadline_);
  }
  if (hostStream()) watchTry(*current_);
}

// ---- watermarks ----

void Router::pauseClient() {
  if (client_paused_ || !stream_.hasClient()) return;
  client_paused_ = true;
  clusterStats().add(ClusterCounter::UpstreamFlowControlBackedUpTotal);
  stream_.pauseReading();
}

void Router::onAttemptWritable(Attempt&) { resumeClient(); }

void Router::resumeClient() {
  if (!client_paused_ || !stream_.hasClient()) return;
  http::ClientStream* const to = hostStream();
  if ((to && to->isOverHighWatermark()) || isMirrorBehind()) return;
  client_paused_ = false;
  clusterStats().add(ClusterCounter::UpstreamFlowControlDrainedTotal);
  stream_.resumeReading();
}

}  // namespace fairlead::proxy
