#include <algorithm>
#include <utility>

#include "log/log.h"
#include "proxy/downstream.h"
#include "proxy/stream.h"

namespace fairlead::proxy {

using Counter = stats::Http::Counter;
using Gauge = stats::Http::Gauge;
using Histogram = stats::Http::Histogram;
using ListenerCounter = stats::ListenerHttp::Counter;
using ClusterCounter = stats::Cluster::Counter;

namespace {

uint64_t wallMicros() {
  timespec now;
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000 + static_cast<uint64_t>(now.tv_nsec) / 1000;
}

}  // namespace

// ---- deadlines ----

void Stream::touch() {
  if (idle_timeout_ms_ == 0) {
    idle_deadline_ = net::kNever;
    return;
  }
  idle_deadline_ = loop().now() + idle_timeout_ms_;
  watch(idle_deadline_);
}

void Stream::watch(net::Millis deadline) {
  if (deadline == net::kNever) return;
  if (!Timer::isArmed() || deadline < due()) loop().timers().arm(this, deadline);
}

void Stream::onTimer() {
  if (isIdle()) return;
  const net::Millis now = loop().now();
  stats::Shard<stats::Http>& stats = server_->stats();
  LocalReply answer{504, {}, {}};
  if (duration_deadline_ <= now) {
    stats.add(Counter::DownstreamRqMaxDurationReached);
    answer.body = "downstream duration timeout";
    answer.details = "max_duration_timeout";
  } else if (route_deadline_ <= now) {
    cluster_->stats().add(ClusterCounter::UpstreamRqTimeout);
    if (host_) host_->counters(context().upstream.worker).rq_timeout.add();
    answer.body = "upstream request timeout";
    answer.details = "response_timeout";
    answer.flag = Flag::UpstreamRequestTimeout;
    if (!response_started_) {
      chargeUpstream(504, nullptr);
      if (host_) host_->counters(context().upstream.worker).rq_error.add();
    }
  } else if (upstream_deadline_ <= now) {
    cluster_->stats().add(ClusterCounter::UpstreamRqMaxDurationReached);
    if (!request_complete_) answer.status = 408;
    answer.body = "upstream max stream duration reached";
    answer.details = "upstream_max_stream_duration_reached";
    answer.flag = Flag::UpstreamMaxStreamDurationReached;
  } else if (request_deadline_ <= now) {
    stats.add(Counter::DownstreamRqTimeout);
    answer.status = 408;
    answer.body = "request timeout";
    answer.details = "request_overall_timeout";
    answer.close = true;
  } else if (idle_deadline_ <= now) {
    stats.add(Counter::DownstreamRqIdleTimeout);
    if (!request_complete_) answer.status = 408;
    answer.body = "stream timeout";
    answer.details = "stream_idle_timeout";
    answer.flag = Flag::StreamIdleTimeout;
  } else {
    watch(std::min({duration_deadline_, route_deadline_, upstream_deadline_, request_deadline_,
                    idle_deadline_}));
    return;
  }
  abandonUpstream();
  if (!response_started_) {
    reply(answer);
    return;
  }
  if (answer.flag) flags_.set(*answer.flag);
  details_ = answer.details;
  resetDownstream();
}

// ---- counting ----

void Stream::countResponse(uint16_t status) {
  status_ = status;
  if (!isHealthCheck()) countStatus(status);
}

void Stream::countStatus(uint16_t status) {
  stats::Shard<stats::Http>& stats = server_->stats();
  stats::Shard<stats::ListenerHttp>& listener = server_->listenerStats();
  stats.add(Counter::DownstreamRqCompleted);
  listener.add(ListenerCounter::DownstreamRqCompleted);
  switch (status / 100) {
    case 1:
      stats.add(Counter::DownstreamRq1xx);
      listener.add(ListenerCounter::DownstreamRq1xx);
      break;
    case 2:
      stats.add(Counter::DownstreamRq2xx);
      listener.add(ListenerCounter::DownstreamRq2xx);
      break;
    case 3:
      stats.add(Counter::DownstreamRq3xx);
      listener.add(ListenerCounter::DownstreamRq3xx);
      break;
    case 4:
      stats.add(Counter::DownstreamRq4xx);
      listener.add(ListenerCounter::DownstreamRq4xx);
      break;
    case 5:
      stats.add(Counter::DownstreamRq5xx);
      listener.add(ListenerCounter::DownstreamRq5xx);
      break;
    default:
      break;
  }
}

// Everything that is known of the request is counted and logged. Once.
void Stream::finish() {
  if (finished_) return;
  finished_ = true;
  log::debug(log::Component::Http, tags(), "stream complete: ", details_);
  stats::Shard<stats::Http>& stats = server_->stats();
  stats.down(Gauge::DownstreamRqActive);
  stats.record(Histogram::DownstreamRqTime, (now() - start_us_) / 1000);
  if (isHealthCheck()) stats.add(Counter::TracingHealthCheck);
  if (!config().access_logs.empty()) logAccess();
  if (filtered_) chain_->onEnd();
}

void Stream::fillFormatContext(format::FormatContext* out) {
  format::FormatContext& format = *out;
  const auto since = [this](uint64_t at) { return at > 0 ? at - start_us_ : format::kUnknown; };
  format.duration_us = now() - start_us_;
  format.start_time_us = wallMicros() - format.duration_us;
  format.request_end_us = since(request_end_us_);
  format.response_begin_us = since(response_begin_us_);
  format.flags = flags_;
  format.is_health_check = isHealthCheck();
  format.status = status_;
  format.protocol = http_10_ ? "HTTP/1.0" : "HTTP/1.1";
  format.upstream_protocol = upstream_protocol_;
  if (live_head_) {
    format.method = live_head_->method;
    format.path = live_head_->path;
    format.authority = live_head_->authority;
    format.request_headers = &live_head_->headers;
  } else if (request_.isSet()) {
    format.method = request_.method();
    format.path = request_.path();
    format.authority = request_.authority();
    request_.restore(&context().log_request);
    format.request_headers = &context().log_request;
  }
  if (format.request_headers) {
    format.scheme = scheme_;
    const http::HeaderEntry* id = format.request_headers->find(http::HeaderId::XRequestId);
    if (id) format.stream_id = id->value();
  }
  format.details = details_;
  format.transport_failure = transport_failure_;
  format.bytes_received = bytes_received_;
  format.bytes_sent = bytes_sent_;
  format.downstream = downstream_bytes_;
  format.upstream = upstream_bytes_;
  format.downstream_remote = client_address_.isIp() ? &client_address_ : &downstream_->remote();
  format.downstream_direct_remote = &downstream_->remote();
  format.downstream_local = &downstream_->local();
  format.connection_id = downstream_->id();
  format.filter_chain_name = config().filter_chain_name;
  if (route_) format.route_name = route_->name;
  if (cluster_) format.upstream_cluster = cluster_->cluster().observabilityName();
  format.upstream_cluster_raw = cluster_name_;
  if (host_) format.upstream_remote = &host_->address();
  if (upstream_local_.isIp()) format.upstream_local = &upstream_local_;
  format.attempts = host_ ? 1 : 0;
}

void Stream::logAccess() {
  format::FormatContext format;
  fillFormatContext(&format);
  if (response_.isSet()) {
    response_.restore(&context().log_response);
    format.response_headers = &context().log_response;
  }
  for (const auto& log : config().access_logs) {
    log->write(context().upstream.worker, format, random_);
  }
}

void Stream::onAnswerComplete() {
  finish();
  release();
}

// Back to the pool, as new.
void Stream::release() {
  Context& context = this->context();
  Deferred::unlink();
  if (std::exchange(filtered_, false)) chain_->clear();
  server_ = nullptr;
  downstream_ = nullptr;
  client_ = nullptr;
  upstream_ = nullptr;
  waiting_pool_ = nullptr;
  if (upstream::HttpPool* pool = std::exchange(pool_, nullptr)) pool->letGo();
  cluster_ = nullptr;
  host_ = nullptr;
  virtual_host_ = nullptr;
  route_ = nullptr;
  target_ = nullptr;
  live_head_ = nullptr;
  splice_.reset();
  upstream_request_.clear();
  request_.clear();
  response_.clear();
  waiting_body_.clear();
  waiting_trailers_.clear();
  details_.clear();
  cluster_name_.clear();
  request_id_.clear();
  transport_failure_ = upstream_protocol_ = {};
  scheme_ = "http";
  upstream_local_ = {};
  client_address_ = {};
  request_end_us_ = response_begin_us_ = 0;
  bytes_received_ = bytes_sent_ = splice_left_ = 0;
  downstream_bytes_ = upstream_bytes_ = {};
  route_timeout_ms_ = idle_timeout_ms_ = upstream_duration_ms_ = 0;
  route_deadline_ = upstream_deadline_ = idle_deadline_ = request_deadline_ = duration_deadline_ =
      net::kNever;
  flags_ = {};
  status_ = 0;
  http_10_ = head_request_ = connect_request_ = grpc_request_ = internal_ = false;
  request_complete_ = response_started_ = request_has_body_ = false;
  client_paused_ = upstream_paused_ = close_after_reply_ = finished_ = false;
  context.streams.give(this);
}

}  // namespace fairlead::proxy
