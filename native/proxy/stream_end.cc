// A stream's deadlines, what is counted and logged of it, and its end.
#include <algorithm>
#include <optional>

#include "http/grpc_timeout.h"
#include "log/log.h"
#include "proxy/downstream.h"
#include "proxy/stream.h"

namespace fairlead::proxy {

using Counter = stats::Http::Counter;
using Histogram = stats::Http::Histogram;
using ListenerCounter = stats::ListenerHttp::Counter;

// ---- deadlines ----

void Stream::beginDeadlines(bool end) {
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
  if (plan.log_interval_ms > 0) logAgainLater();
}

void Stream::logAgainLater() {
  log_deadline_ = loop().now() + config().plan.log_interval_ms;
  watch(log_deadline_);
}

namespace {

constexpr uint32_t kGrpcDeadlineExceeded = 4;

// What the request wants within the bounds of its route, which its host is told. Nothing: it wants
// nothing that makes sense.
std::optional<net::Millis> grpcDuration(const plan::ClusterAction& plan, http::HeaderMap& headers,
                                        Arena& arena) {
  http::HeaderEntry* const header = headers.find(http::HeaderId::GrpcTimeout);
  if (!header) return std::nullopt;
  std::optional<net::Millis> wanted = http::readGrpcTimeout(header->value());
  if (!wanted) return std::nullopt;
  net::Millis duration = *wanted;
  const net::Millis most = *plan.grpc_timeout_max_ms;
  if (most > 0) duration = std::min(duration, most);
  duration -= std::min<net::Millis>(duration, plan.grpc_timeout_offset_ms);
  header->setValue(http::writeGrpcTimeout(duration, arena));
  return duration;
}

}  // namespace

// What a route that forwards says in place of the connection manager.
void Stream::applyRouteDeadlines(http::HeaderMap& headers) {
  if (!info_.route || !info_.route->cluster) return;
  const plan::ClusterAction& plan = info_.route->cluster->plan;
  if (plan.idle_timeout_ms) {
    idle_timeout_ms_ = *plan.idle_timeout_ms;
    touch();
  }
  if (plan.flush_timeout_ms) client_->setFlushTimeout(*plan.flush_timeout_ms);
  std::optional<net::Millis> duration = plan.max_stream_duration_ms;
  std::optional<net::Millis> wanted;
  if (plan.grpc_timeout_max_ms) wanted = grpcDuration(plan, headers, context().arena);
  if (wanted) duration = wanted;
  if (!duration) return;
  // Who wants no time at all gets none; a route's 0 is no limit.
  const bool is_limited = wanted || *duration > 0;
  if (is_limited && !wanted && info_.is_grpc) {
    headers.set(http::HeaderId::GrpcTimeout, http::writeGrpcTimeout(*duration, context().arena));
  }
  duration_deadline_ = is_limited ? loop().now() + *duration : net::kNever;
  watch(duration_deadline_);
}

void Stream::touch() {
  if (idle_timeout_ms_ == 0) {
    idle_deadline_ = net::kNever;
    return;
  }
  idle_deadline_ = loop().now() + info_.server->overload().scaled(
                                      net::Overload::TimerType::StreamIdle, idle_timeout_ms_);
  watch(idle_deadline_);
}

void Stream::onRescale() {
  if (idle_deadline_ == net::kNever) return;
  constexpr auto kType = net::Overload::TimerType::StreamIdle;
  const net::Overload& overload = info_.server->overload();
  idle_deadline_ -= overload.scaledBefore(kType, idle_timeout_ms_);
  idle_deadline_ += overload.scaled(kType, idle_timeout_ms_);
  watch(idle_deadline_);
}

void Stream::watch(net::Millis deadline) {
  if (deadline != net::kNever) loop().timers().armBy(this, deadline);
}

filters::LocalReply Stream::tooLong(Limit limit) {
  const uint16_t status = isRequestComplete() ? 504 : 408;
  switch (limit) {
    case Limit::Duration: {
      stats().add(Counter::DownstreamRqMaxDurationReached);
      filters::LocalReply reply{status, "downstream duration timeout", "max_duration_timeout"};
      reply.grpc_status = kGrpcDeadlineExceeded;
      return reply;
    }
    case Limit::Request:
      stats().add(Counter::DownstreamRqTimeout);
      return {408, "request timeout", "request_overall_timeout", std::nullopt, false, true};
    case Limit::Idle:
      break;
  }
  stats().add(Counter::DownstreamRqIdleTimeout);
  return {status, "stream timeout", "stream_idle_timeout", format::ResponseFlag::StreamIdleTimeout};
}

void Stream::onTimer() {
  if (state_ == State::Resting) return;
  const net::Millis now = loop().now();
  if (log_deadline_ <= now) {
    logAccess(format::LogType::DownstreamPeriodic);
    logAgainLater();
  }
  filters::LocalReply reply{408, {}, {}};
  if (duration_deadline_ <= now) {
    reply = tooLong(Limit::Duration);
  } else if (request_deadline_ <= now) {
    reply = tooLong(Limit::Request);
  } else if (idle_deadline_ <= now) {
    reply = tooLong(Limit::Idle);
  } else {
    watch(std::min({duration_deadline_, request_deadline_, idle_deadline_, log_deadline_}));
    return;
  }
  if (!hasAnswerBegun()) {
    answer(reply);
    return;
  }
  if (reply.flag) info_.flags.set(*reply.flag);
  info_.details = reply.details;
  resetClient();
}

// ---- memory ----

// What the real server charges to a request's account, which only HTTP/2 has throughout: of a
// client of HTTP/1 it is what its host sends and is sent by HTTP/2.
size_t Stream::heldMemory(size_t waiting) const {
  if (!info_.is_http2) return router_.speaksHttp2() ? waiting + router_.waitingMemory() : 0;
  return waiting + router_.waitingMemory() + router_.keptMemory() +
         (filtered_ ? chain_->heldMemory() : 0);
}

// ---- counting ----

void Stream::countStatus(uint16_t status) {
  stats::Shard<stats::Http>& http = stats();
  stats::Shard<stats::ListenerHttp>& listener = info_.server->listenerStats();
  http.add(Counter::DownstreamRqCompleted);
  listener.add(ListenerCounter::DownstreamRqCompleted);
  switch (status / 100) {
    case 1:
      http.add(Counter::DownstreamRq1xx);
      listener.add(ListenerCounter::DownstreamRq1xx);
      break;
    case 2:
      http.add(Counter::DownstreamRq2xx);
      listener.add(ListenerCounter::DownstreamRq2xx);
      break;
    case 3:
      http.add(Counter::DownstreamRq3xx);
      listener.add(ListenerCounter::DownstreamRq3xx);
      break;
    case 4:
      http.add(Counter::DownstreamRq4xx);
      listener.add(ListenerCounter::DownstreamRq4xx);
      break;
    case 5:
      http.add(Counter::DownstreamRq5xx);
      listener.add(ListenerCounter::DownstreamRq5xx);
      break;
    default:
      break;
  }
}

void Stream::logAccess(format::LogType type) {
  format::FormatContext format;
  info_.fillAnswer(&format);
  format.log_type = type;
  format.is_complete = type == format::LogType::DownstreamEnd;
  for (const auto& log : config().access_logs) {
    log->write(context().upstream.worker, format, info_.id);
  }
}

// ---- the end ----

void Stream::onAnswerComplete() {
  // What is still to come of the request is not wanted.
  if (!isRequestHere()) stats().add(Counter::DownstreamRqRxReset);
  info_.is_answer_whole = true;
  info_.mark(format::TimePoint::DownstreamTxEnd);
  // What HTTP/1 gathers may be views of what filters hold, who end with the stream.
  if (!info_.is_http2 && (filtered_ || router_.hasTryFilters())) client_->flush();
  end();
}

void Stream::onAnswerComposed() {
  // Logs and spans tell of the request later.
  if (const http::RequestHead* const head = std::exchange(info_.live_head, nullptr)) {
    keepHead(*head);
  }
  letGoOfHost();
  router_.settle();
  if (filtered_) chain_->stop();
  become(State::Leaving);
  client_ = nullptr;
  idle_deadline_ = request_deadline_ = duration_deadline_ = log_deadline_ = net::kNever;
}

void Stream::letGoOfHost() {
  router_.abandon();
  if (info_.cluster && info_.cluster->measures()) router_.measureBodies();
}

void Stream::endFilters() {
  if (std::exchange(filtered_, false)) chain_->end();
}

void Stream::countEnd() {
  stats().record(Histogram::DownstreamRqTime, (loop().nowMicros() - info_.start_us) / 1000);
  if (config().route_stats) recordRoutes();
  if (info_.is_health_check) stats().add(Counter::TracingHealthCheck);
  if (info_.is_granted) stats().down(stats::Http::Gauge::DownstreamCxUpgradesActive);
  if (!config().access_logs.empty()) logAccess(format::LogType::DownstreamEnd);
  if (info_.trace) {
    endTrace();
  } else if (config().tracing && info_.status != 0) {
    // It was answered before anybody asked whether it may be traced.
    stats().add(Counter::TracingNotTraceable);
  }
  endFilters();
}

// Counts and logs all that is known of the request; then back to the pool, as new.
void Stream::end() {
  if (state_ != State::Leaving) letGoOfHost();
  log::debug(log::Component::Http, info_.tags(), "stream complete: ", info_.details);
  become(State::Resting);
  Downstream* const downstream = info_.is_http2 ? downstream_ : nullptr;
  const uint64_t lifetime_us = loop().nowMicros() - info_.start_us;
  const bool is_answered = info_.status != 0;
  countEnd();
  StreamPool& pool = context().streams;
  net::Loop& loop = this->loop();
  router_.clear();
  info_.clear();
  downstream_ = nullptr;
  client_ = nullptr;
  request_id_.clear();
  redirects_.reset();
  idle_timeout_ms_ = 0;
  idle_deadline_ = request_deadline_ = duration_deadline_ = log_deadline_ = net::kNever;
  read_pauses_ = answer_pauses_ = 0;
  head_written_ = is_fed_again_ = false;
  pool.give(this, loop);
  if (downstream) downstream->onRequestEnded(lifetime_us, is_answered);
}

void Stream::recordRoutes() {
  using RouteHistogram = stats::HttpRouteResolution::Histogram;
  const format::Exchange* const noted = info_.exchange();
  if (!noted || noted->routes == 0) return;
  auto* const shard = config().route_stats->shard(context().upstream.worker + 1);
  shard->record(RouteHistogram::DownstreamRqRouteResolutionTimeUs, noted->route_us);
  shard->record(RouteHistogram::DownstreamRqRouteResolutions, noted->routes);
}

}  // namespace fairlead::proxy
