#include "proxy/stream.h"

#include "base/text.h"
#include "http/target.h"
#include "log/log.h"
#include "proxy/downstream.h"

namespace fairlead::proxy {

using http::HeaderEntry;
using http::HeaderId;
using http::HeaderMap;
using Counter = stats::Http::Counter;
using Gauge = stats::Http::Gauge;

StreamPool::StreamPool() = default;

StreamPool::~StreamPool() {
  for (Stream* stream : resting_) delete stream;
}

Stream* StreamPool::take() {
  if (resting_.empty()) return new Stream;
  Stream* stream = resting_.back();
  resting_.pop_back();
  return stream;
}

log::Tags Stream::makeTags() const { return {.connection = downstream_->id(), .stream = random_}; }

void Stream::start(Downstream& downstream, http::ServerStream& client) {
  server_ = &downstream.server();
  downstream_ = &downstream;
  client_ = &client;
  start_us_ = now();
  stats::Shard<stats::Http>& stats = server_->stats();
  stats.add(Counter::DownstreamRqTotal);
  stats.add(Counter::DownstreamRqHttp1Total);
  stats.up(Gauge::DownstreamRqActive);
  log::debug(log::Component::Http, log::Tags{.connection = downstream.id()}, "new stream");
}

// ---- the head ----

void Stream::onRequestHead(http::RequestHead& head, bool end) {
  context().arena.reset();
  http_10_ = head.version == http::Version::Http10;
  head_request_ = head.method == "HEAD";
  connect_request_ = head.method == "CONNECT";
  noteContentType(head.headers);
  random_ = context().upstream.random.next();
  const plan::HttpConnectionManager& plan = config().plan;
  idle_timeout_ms_ = plan.stream_idle_timeout_ms;
  touch();
  if (!end && plan.request_timeout_ms > 0) {
    request_deadline_ = loop().now() + plan.request_timeout_ms;
    watch(request_deadline_);
  }
  if (plan.max_stream_duration_ms > 0) {
    duration_deadline_ = loop().now() + plan.max_stream_duration_ms;
    watch(duration_deadline_);
  }
  log::debug(log::Component::Http, tags(), "request headers complete (end_stream=", end,
             "): ", head.method, " ", head.path, " ", head.authority);
  if (end) requestComplete();
  request_has_body_ = !end;
  live_head_ = &head;
  if (checkUnderscores(head.headers) && checkHead(head)) routeRequest(head);
  live_head_ = nullptr;
  if (!isIdle()) keepHead(head);
}

// What is said of the request after this is said of what routing made of its head.
void Stream::keepHead(const http::RequestHead& head) {
  const bool answer_speaks_of_it = route_ && mutations().changesResponse();
  if (!config().logs_request_head && !answer_speaks_of_it) return;
  request_.save(head.method, head.path, head.authority, head.headers);
}

void Stream::noteContentType(const HeaderMap& headers) {
  const HeaderEntry* type = headers.find(HeaderId::ContentType);
  grpc_request_ = type && type->value().starts_with("application/grpc");
}

// What becomes of names with an underscore, which other servers take for a hyphen. False: answered.
bool Stream::checkUnderscores(HeaderMap& headers) {
  using Underscores = plan::HttpConnectionManager::Underscores;
  const Underscores action = config().plan.underscores;
  if (action == Underscores::Allow) return true;
  using CodecCounter = stats::Http1Codec::Counter;
  stats::Shard<stats::Http1Codec>& codec = server_->codecStats();
  for (HeaderEntry& entry : headers) {
    if (entry.name().find('_') == std::string_view::npos) continue;
    if (action == Underscores::Reject) {
      codec.add(CodecCounter::RequestsRejectedWithUnderscoresInHeaders);
      onRequestBroken(400, "http1.requests_rejected_with_underscores_in_headers");
      return false;
    }
    codec.add(CodecCounter::DroppedHeadersWithUnderscores);
    entry.remove();
  }
  return true;
}

// False: it was answered.
bool Stream::checkHead(http::RequestHead& head) {
  const plan::HttpConnectionManager& plan = config().plan;
  if (!head.authority.data() && http_10_ && !plan.default_host_for_http_10.empty()) {
    head.authority = plan.default_host_for_http_10;
  }
  if (!head.authority.data()) {
    reply({400, {}, "missing_host_header", std::nullopt, false, true});
    return false;
  }
  if (!http::isValidAuthority(head.authority)) {
    reply({400, {}, "http.invalid_authority", std::nullopt, false, true});
    return false;
  }
  if (head.method == "QUERY" && !head.headers.find(HeaderId::ContentType)) {
    reply({400, {}, "query_missing_content_type", std::nullopt, false, true});
    return false;
  }
  if (const HeaderEntry* connection = head.headers.find(HeaderId::Connection);
      connection && nominatesForbidden(connection->value())) {
    reply({400, {}, "header_sanitization_failed", std::nullopt, false, true});
    return false;
  }
  if (!connect_request_ && head.path[0] != '/') {
    server_->stats().add(Counter::DownstreamRqNonRelativePath);
    reply({404, {}, "absolute_path_rejected"});
    return false;
  }
  if (!connect_request_ && !normalizePath(head)) return false;
  if (const HeaderEntry* upgrade = head.headers.find(HeaderId::Upgrade)) {
    const HeaderEntry* connection = head.headers.find(HeaderId::Connection);
    const bool asked = connection && containsToken(connection->value(), "upgrade");
    if (asked && !equalsIgnoreCase(upgrade->value(), "h2c")) {
      server_->stats().add(Counter::DownstreamRqWsOnNonWsRoute);
      reply({403, {}, "upgrade_failed", std::nullopt, false, true});
      return false;
    }
  }
  if (HeaderEntry* expect = head.headers.find(HeaderId::Expect)) {
    if (!plan.proxy_100_continue && equalsIgnoreCase(expect->value(), "100-continue")) {
      countStatus(100);
      client_->sendInformational(100, nullptr);
      if (!client_) return false;
      expect->remove();
    }
  }
  return true;
}

bool Stream::normalizePath(http::RequestHead& head) {
  using Result = http::NormalizedPath::Result;
  const auto reject = [&] {
    server_->stats().add(Counter::DownstreamRqFailedPathNormalization);
    reply({400, {}, "path_normalization_failed", std::nullopt, false, true});
    return false;
  };
  if (head.path.find('#') != std::string_view::npos) return reject();
  const http::PathRules& rules = config().path_rules;
  const bool nothing = !rules.normalize && !rules.merge_slashes &&
                       rules.escaped_slashes == http::EscapedSlashes::Keep;
  if (nothing) return true;
  const http::NormalizedPath path = http::normalizePath(head.path, rules, context().arena);
  if (path.result == Result::Rejected) return reject();
  head.path = path.path;
  if (path.result != Result::Redirect) return true;
  server_->stats().add(Counter::DownstreamRqRedirectedWithNormalizedPath);
  LocalReply answer{307, {}, "path_normalization_failed"};
  answer.location = path.path;
  reply(answer);
  return false;
}

// ---- the body ----

void Stream::onRequestData(std::string_view data, bool end) {
  bytes_received_ += data.size();
  touch();
  if (end) requestComplete();
  if (filtered_ && !filterData(data, end)) return;
  if (upstream_) {
    upstream_->sendData(data, end);
    return;
  }
  if (!waiting_pool_) return;
  waiting_body_.append(data);
  if (waiting_body_.size() > config().buffer_limit_bytes) pauseClient();
}

void Stream::onRequestTrailers(HeaderMap& trailers) {
  requestComplete();
  if (filtered_ && !filterTrailers(trailers)) return;
  if (upstream_) {
    upstream_->sendTrailers(&trailers);
  } else if (waiting_pool_) {
    waiting_trailers_.save({}, {}, {}, trailers);
  }
}

void Stream::onRequestReadEnd() {
  // A request that is complete has been sent whole; a tunnel's bytes go on after it.
  if (!upstream_ || (request_complete_ && !connect_request_)) return;
  upstream_->flush();
  if (upstream_->isOverHighWatermark()) pauseClient();
}

void Stream::pauseClient() {
  if (!client_ || client_paused_) return;
  client_paused_ = true;
  cluster_->stats().add(stats::Cluster::Counter::UpstreamFlowControlBackedUpTotal);
  server_->stats().add(Counter::DownstreamFlowControlPausedReadingTotal);
  client_->pauseReading();
}

void Stream::onUpstreamWritable() {
  if (!client_paused_ || !client_ || (upstream_ && upstream_->isOverHighWatermark())) return;
  client_paused_ = false;
  cluster_->stats().add(stats::Cluster::Counter::UpstreamFlowControlDrainedTotal);
  server_->stats().add(Counter::DownstreamFlowControlResumedReadingTotal);
  client_->resumeReading();
}

void Stream::requestComplete() {
  if (request_complete_) return;
  request_complete_ = true;
  request_deadline_ = net::kNever;
  request_end_us_ = now();
  // The host's time runs from the end of the request on.
  if (route_timeout_ms_ > 0 && (upstream_ || waiting_pool_)) {
    route_deadline_ = loop().now() + route_timeout_ms_;
    watch(route_deadline_);
  }
}

void Stream::onRequestBroken(uint16_t status, std::string_view details) {
  server_->stats().add(Counter::DownstreamCxProtocolError);
  flags_.set(Flag::DownstreamProtocolError);
  abandonUpstream();
  if (response_started_) {
    details_ = details;
    resetDownstream();
    return;
  }
  reply({status, http::reasonPhrase(status), details, Flag::DownstreamProtocolError, false, true});
}

void Stream::onRequestReset(http::ResetReason reason, std::string_view details) {
  client_ = nullptr;
  log::debug(log::Component::Http, tags(), "stream reset: ", details);
  details_ = details;
  stats::Shard<stats::Http>& stats = server_->stats();
  stats.add(Counter::DownstreamRqRxReset);
  stats.add(Counter::DownstreamCxDestroyActiveRq);
  if (reason == http::ResetReason::ConnectionTermination) {
    flags_.set(Flag::DownstreamConnectionTermination);
    stats.add(Counter::DownstreamCxDestroyRemoteActiveRq);
  } else {
    stats.add(Counter::DownstreamCxDestroyLocalActiveRq);
  }
  abandonUpstream();
  finish();
  release();
}

void Stream::onRequestHeadTimeout() {
  server_->stats().add(Counter::DownstreamRqHeaderTimeout);
  reply({408, "request header timeout", "request_header_timeout", std::nullopt, false, true});
}

}  // namespace fairlead::proxy
