// The router's way back: what hosts answer, and what is answered in their place.
#include <algorithm>
#include <utility>

#include "proxy/router.h"
#include "proxy/stream.h"

namespace fairlead::proxy {

using http::HeaderEntry;
using http::HeaderId;
using http::HeaderMap;
using ClusterCounter = stats::Cluster::Counter;
using ClusterHistogram = stats::Cluster::Histogram;

namespace {

// Fewer bytes than this are copied: a pipe costs more.
constexpr uint64_t kWorthSplicingBytes = 64 * 1024;

}  // namespace

// ---- from the host ----

void Router::onInformational(http::ResponseHead& head) {
  if (isCounted()) count(head.status, &head.headers);
  stream_.onUpstreamInformational(head);
}

void Router::onResponseHead(http::ResponseHead& head, bool end) {
  info_.context().arena.reset();
  if (end) upstream_ = nullptr;
  log::debug(log::Component::Router, info_.tags(), "upstream headers complete: end_stream=", end,
             " status=", head.status);
  charge(head.status, &head.headers);
  if (end) answerComplete();
  stream_.onUpstreamHead(head, end);
}

void Router::onResponseData(std::string_view data, bool end) {
  if (end) {
    upstream_ = nullptr;
    answerComplete();
  }
  stream_.onUpstreamData(data, end);
}

void Router::onResponseTrailers(HeaderMap& trailers) {
  upstream_ = nullptr;
  answerComplete();
  stream_.onUpstreamTrailers(trailers);
}

void Router::onResponseReadEnd() {
  if (!upstream_ || !stream_.hasClient()) return;
  stream_.onUpstreamReadEnd();
  if (beginSplice() || upstream_paused_ || !stream_.isClientBehind()) return;
  upstream_paused_ = true;
  info_.cluster->stats().add(ClusterCounter::UpstreamFlowControlPausedReadingTotal);
  upstream_->pauseReading();
}

void Router::onClientWritable() {
  if (splice_) {
    // The upstream's socket is not read inside of the client's handler.
    loop().defer(this);
    return;
  }
  if (!upstream_paused_ || !upstream_ || stream_.isClientBehind()) return;
  upstream_paused_ = false;
  info_.cluster->stats().add(ClusterCounter::UpstreamFlowControlResumedReadingTotal);
  upstream_->resumeReading();
}

void Router::onResponseReset(http::ResetReason reason, std::string_view details) {
  upstream_ = nullptr;
  splice_.reset();
  countHostError(info_.host);
  const bool nonsense = reason == http::ResetReason::ProtocolError;
  const Flag flag = nonsense ? Flag::UpstreamProtocolError : Flag::UpstreamConnectionTermination;
  const std::string_view words = nonsense ? "protocol error" : "connection termination";
  if (!stream_.hasAnswerBegun()) {
    failUpstream({static_cast<uint16_t>(nonsense ? 502 : 503), {}, {}, flag}, words);
    return;
  }
  std::string broken = "upstream_reset_after_response_started{";
  broken.append(words).append("}");
  stream_.onUpstreamBroken(flag, broken);
}

// ---- in its place ----

void Router::onPoolFailure(upstream::PoolFailure failure, upstream::Host* host,
                           std::string_view details) {
  waiting_pool_ = nullptr;
  info_.transport_failure = details;
  std::string_view reason;
  LocalReply answer{503, {}, {}};
  switch (failure) {
    case upstream::PoolFailure::Overflow:
      reason = "overflow";
      answer.flag = Flag::UpstreamOverflow;
      answer.overloaded = true;
      break;
    case upstream::PoolFailure::ConnectFailure:
      reason = "remote connection failure";
      answer.flag = Flag::UpstreamConnectionFailure;
      break;
    case upstream::PoolFailure::ConnectTimeout:
      reason = "connection timeout";
      answer.flag = Flag::UpstreamConnectionFailure;
      break;
    case upstream::PoolFailure::ConnectionTermination:
      reason = "connection termination";
      answer.flag = Flag::UpstreamConnectionTermination;
      break;
  }
  countHostError(host);
  failUpstream(answer, reason);
}

void Router::failUpstream(LocalReply answer, std::string_view reason) {
  upstream_ = nullptr;
  log::debug(log::Component::Router, info_.tags(), "upstream reset: reset reason: ", reason,
             ", transport failure reason: ", info_.transport_failure);
  std::string details = "upstream_reset_before_response_started{";
  details.append(reason);
  if (!info_.transport_failure.empty()) details.append("|").append(info_.transport_failure);
  details.append("}");
  std::string body = "upstream connect error or disconnect/reset before headers. reset reason: ";
  body.append(reason);
  answer.details = details;
  answer.body = body;
  charge(answer.status, nullptr);
  stream_.answer(answer);
}

// ---- counting ----

void Router::charge(uint16_t status, const HeaderMap* headers) {
  if (isCounted()) count(status, headers);
  if (!headers || !info_.host) return;
  upstream::HostCounters& host = info_.host->counters(info_.context().upstream.worker);
  if (status >= 500) {
    countHostError(info_.host);
  } else {
    host.rq_success.add();
  }
}

void Router::count(uint16_t status, const HeaderMap* headers) {
  stats::Shard<stats::Cluster>& stats = info_.cluster->stats();
  stats.add(ClusterCounter::UpstreamRqCompleted);
  stats.countResponse(stats::CodeVariant::All, status);
  stats.countResponse(
      info_.is_internal ? stats::CodeVariant::Internal : stats::CodeVariant::External, status);
  if (!headers || !info_.host) return;
  const HeaderEntry* canary = headers->find(HeaderId::XEnvoyUpstreamCanary);
  if ((canary && canary->value() == "true") || info_.host->settings().canary) {
    stats.countResponse(stats::CodeVariant::Canary, status);
  }
}

void Router::countHostError(upstream::Host* host) {
  if (host && isCounted()) host->counters(info_.context().upstream.worker).rq_error.add();
}

// The host's answer is whole.
void Router::answerComplete() {
  route_deadline_ = exchange_deadline_ = net::kNever;
  if (!isCounted() || info_.request_end_us == 0) return;
  const uint64_t ms = (loop().nowMicros() - info_.request_end_us) / 1000;
  stats::Shard<stats::Cluster>& stats = info_.cluster->stats();
  stats.record(ClusterHistogram::UpstreamRqTime, ms);
  stats.record(info_.is_internal ? ClusterHistogram::InternalUpstreamRqTime
                                 : ClusterHistogram::ExternalUpstreamRqTime,
               ms);
}

// ---- deadlines ----

void Router::watch(net::Millis deadline) {
  if (deadline == net::kNever) return;
  if (!Timer::isArmed() || deadline < due()) loop().timers().arm(this, deadline);
}

void Router::onTimer() {
  if (!info_.server) return;
  const net::Millis now = loop().now();
  if (route_deadline_ <= now) {
    info_.cluster->stats().add(ClusterCounter::UpstreamRqTimeout);
    upstream::HostCounters& host = info_.host->counters(info_.context().upstream.worker);
    host.rq_timeout.add();
    if (!stream_.hasAnswerBegun()) {
      charge(504, nullptr);
      countHostError(info_.host);
    }
    giveUp({504, "upstream request timeout", "response_timeout", Flag::UpstreamRequestTimeout});
  } else if (exchange_deadline_ <= now) {
    info_.cluster->stats().add(ClusterCounter::UpstreamRqMaxDurationReached);
    giveUp({static_cast<uint16_t>(request_complete_ ? 504 : 408),
            "upstream max stream duration reached", "upstream_max_stream_duration_reached",
            Flag::UpstreamMaxStreamDurationReached});
  } else {
    watch(std::min(route_deadline_, exchange_deadline_));
  }
}

void Router::giveUp(const LocalReply& answer) {
  abandon();
  if (stream_.hasAnswerBegun()) {
    stream_.onUpstreamBroken(*answer.flag, answer.details);
  } else {
    stream_.answer(answer);
  }
}

// ---- past user space ----

bool Router::beginSplice() {
  if (splice_) return true;
  http::RawSource* const source = upstream_->rawSource();
  http::RawSink* const sink = stream_.rawSink();
  if (!source || !sink || !sink->canWriteNow()) return false;
  const uint64_t left = source->remainingBytes();
  if (left < kWorthSplicingBytes) return false;
  splice_ = net::Splice::begin(info_.context().upstream.pipes);
  if (!splice_) return false;
  splice_left_ = left;
  source->begin();
  return true;
}

void Router::pumpSplice() {
  http::RawSink* const sink = stream_.rawSink();
  if (!splice_ || !sink) return;
  using Stop = net::Splice::Stop;
  http::RawSource* const source = upstream_ ? upstream_->rawSource() : nullptr;
  const net::Splice::Moved moved =
      splice_->move(source ? source->fd() : -1, sink->fd(), splice_left_);
  splice_left_ -= moved.taken;
  stream_.onUpstreamMoved(moved.written, moved.taken + moved.written > 0);
  sink->onGiven(moved.written, false);
  if (splice_left_ == 0 && source) {
    upstream_ = nullptr;
    answerComplete();
  }
  if (source && moved.taken > 0) source->onTaken(moved.taken);
  switch (moved.stop) {
    case Stop::SourceEmpty:
      source->markUnreadable();
      return;
    case Stop::SourceEnded:
    case Stop::SourceFailed:
      source->fail();
      return;
    case Stop::SinkFull:
      sink->markUnwritable();
      return;
    case Stop::SinkFailed:
      // The client's own events tell of it.
      return;
    case Stop::Yield:
      loop().yield(this);
      return;
    case Stop::Limit:
      break;
  }
  splice_.reset();
  sink->onGiven(0, true);
}

}  // namespace fairlead::proxy
