// The router's way back: what hosts answer, and what is answered in their place.
#include <algorithm>
#include <utility>

#include "format/grpc_status.h"
#include "proxy/request_rules.h"
#include "proxy/router.h"
#include "proxy/stream.h"
#include "proxy/try_filters.h"
#include "upstream/answer_counts.h"

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

void Router::onAttemptInformational(Attempt& attempt, http::ResponseHead& head) {
  if (isCounted()) count(head.status, &head.headers);
  // A client that was told to go on is not told so again by another host.
  accept(attempt);
  stream_.onUpstreamInformational(head);
}

void Router::onAttemptHead(Attempt& attempt, http::ResponseHead& head, bool end) {
  info_.context().arena.reset();
  info_.mark(format::TimePoint::UpstreamRxBegin);
  log::debug(log::Component::Router, info_.tags(), "upstream headers complete: end_stream=", end,
             " status=", head.status);
  if (info_.trace) {
    info_.trace->onTryAnswer(&attempt, head.status, head.headers, loop().nowMicros());
  }
  if (try_logs_) try_logs_->onAnswer(attempt, head);
  if (head.headers.find(HeaderId::XEnvoyImmediateHealthCheckFail)) tellUnwell(attempt);
  if (attempt.host().outlier()) tellOutlier(attempt.host(), head);
  if (attempt.host().load()) takeLoadReport(attempt, head.headers);
  if (measures()) measureAnswer(head);
  if (info_.is_upgrade && head.status == 200 && !end && speaksHttp2()) grantAsHttp1(head);
  if (info_.is_websocket && head.status != 101 && head.status < 400) {
    refuseHandshake(head);
    return;
  }
  if (retries_on_ && isRetriedAfter(attempt, head)) return;
  if (follows_redirects_) {
    if (isRedirected(head)) return;
    noRedirect(attempt);
  }
  accept(attempt);
  touchTry(attempt);
  charge(head.status, &head.headers, end);
  if (end) {
    answerComplete(attempt);
    if (info_.trace) endTryTrace(attempt);
  }
  const bool opens =
      !end && info_.tunnels() && (info_.is_upgrade ? head.status == 101 : head.status / 100 == 2);
  if (opens) openTunnel(attempt);
  if (head.names) {
    info_.touchUncommon().response_names = std::make_unique<const http::KeptNames>(*head.names);
  }
  tellNewCookies(head.headers);
  stream_.onUpstreamHead(head, end);
  if (opens && client_paused_) resumeClient();
}

// Checks of the host, where there are any, go by what it says of itself.
void Router::tellUnwell(Attempt& attempt) {
  upstream::Cluster& cluster = attempt.hostCluster();
  upstream::HealthInbox* const inbox = cluster.healthInbox();
  if (!inbox) return;
  inbox->post(
      {.cluster = cluster.life(), .host = attempt.host().weak_from_this(), .is_said = true});
}

// An extended CONNECT is granted by 200.
void Router::grantAsHttp1(http::ResponseHead& head) {
  head.status = 101;
  head.headers.set(HeaderId::Upgrade, info_.uncommon().upgrade_name);
  head.headers.set(HeaderId::Connection, "upgrade");
}

// As the real server: who answers a WebSocket's handshake with anything but 101 or an error gets no
// further than its head.
void Router::refuseHandshake(const http::ResponseHead& head) {
  LocalReply answer{head.status, {}, "websocket_handshake_unsuccessful"};
  answer.headers = &head.headers;
  answerInPlace(answer);
}

// This one's answer is the client's; all others are given up.
void Router::accept(Attempt& attempt) {
  current_ = &attempt;
  info_.host = &attempt.host();
  attempt.try_deadline = net::kNever;
  if (!retries_on_) return;
  retry_at_ = net::kNever;
  forEachActive([this, &attempt](Attempt& other) {
    if (&other == &attempt) return;
    if (info_.trace) cancelTryTrace(other);
    abandonTry(other);
  });
  endRetries();
  if (attempt.stream() && !info_.tunnels() && !may_redirect_) dropKept();
}

bool Router::isRetriedAfter(Attempt& attempt, const http::ResponseHead& head) {
  bool is_wanted = false;
  if (attempt.was_hedged) {
    is_wanted = retry_->isWorthRetry(head);
  } else {
    const RetryState::Verdict verdict = retry_->afterHead(head);
    if (isRetried(verdict, false)) {
      countHostError(&attempt.host());
      clusterStats().countResponse(stats::CodeVariant::Retry,
                                   isPlain() ? head.status : stats::CodeCounts::kCompletedOnly);
      giveUp(attempt);
      return true;
    }
    is_wanted = verdict != RetryState::Verdict::Enough;
  }
  // It is no good, but another one may be.
  if (!is_wanted || !hasOtherTry(attempt)) return false;
  countHostError(&attempt.host());
  giveUp(attempt);
  return true;
}

void Router::chargeBegunAnswer() {
  if (!std::exchange(awaits_grpc_status_, false)) return;
  countHostError(info_.host);
  info_.server->stats().add(stats::Http::Counter::RqResetAfterDownstreamResponseStarted);
}

void Router::onAttemptData(Attempt& attempt, std::string_view data, bool end) {
  info_.mark(format::TimePoint::UpstreamRxBodyBegin);
  // Who answers gRPC without trailers has said nothing.
  if (end && std::exchange(awaits_grpc_status_, false)) countHostError(info_.host);
  if (try_logs_) try_logs_->onReceived(attempt, data.size());
  if (end) {
    answerComplete(attempt);
    if (info_.trace) endTryTrace(attempt);
  }
  touchTry(attempt);
  stream_.onUpstreamData(data, end);
}

void Router::onAttemptTrailers(Attempt& attempt, HeaderMap& trailers) {
  if (std::exchange(awaits_grpc_status_, false)) countGrpcAnswer(trailers);
  if (attempt.host().load()) takeLoadReport(attempt, trailers);
  if (try_logs_) try_logs_->onTrailers(attempt, trailers);
  answerComplete(attempt);
  if (info_.trace) {
    info_.trace->onTryTrailers(&attempt, trailers);
    endTryTrace(attempt);
  }
  stream_.onUpstreamTrailers(trailers);
}

void Router::onAttemptReadEnd(Attempt& attempt) {
  if (!stream_.hasClient() || !stream_.hasAnswerBegun()) return;
  stream_.onUpstreamReadEnd();
  if (beginSplice() || upstream_paused_ || !stream_.isClientBehind()) return;
  upstream_paused_ = true;
  clusterStats().add(ClusterCounter::UpstreamFlowControlPausedReadingTotal);
  attempt.stream()->pauseReading();
}

void Router::onClientWritable() {
  if (splice_) {
    // The upstream's socket is not read inside of the client's handler.
    loop().defer(this);
    return;
  }
  if (!upstream_paused_ || !hostStream() || stream_.isClientBehind()) return;
  upstream_paused_ = false;
  clusterStats().add(ClusterCounter::UpstreamFlowControlResumedReadingTotal);
  hostStream()->resumeReading();
}

// ---- in its place ----

namespace {

uint16_t statusOf(upstream::UpstreamError::Kind kind) {
  return kind == upstream::UpstreamError::Kind::ProtocolError ? 502 : 503;
}

}  // namespace

void Router::onAttemptFailed(Attempt& attempt, const UpstreamError& error) {
  if (current_ == &attempt) current_ = nullptr;
  splice_.reset();
  if (info_.trace) {
    info_.trace->onTryFailed(&attempt, reasonOf(error.kind));
    info_.trace->onTryFlag(&attempt, upstream::flagOf(error.kind));
    endTryTrace(attempt);
  }
  info_.touchUncommon().transport_failure = error.transport;
  if (try_logs_) {
    try_logs_->onFlag(attempt, upstream::flagOf(error.kind));
    try_logs_->end(attempt);
  }
  if (!error.request_began) info_.mark(format::TimePoint::PoolReady);
  if (error.kind != UpstreamError::Kind::Overflow) {
    tellOutlier(error.host, upstream::OutlierResult::ConnectFailed);
  }
  if (stream_.hasAnswerBegun()) {
    chargeBegunAnswer();
    std::string broken = "upstream_reset_after_response_started{";
    broken.append(reasonOf(error.kind)).append("}");
    info_.noteReplyOwner(config().router.name);
    stream_.onUpstreamBroken(upstream::flagOf(error.kind), broken);
    return;
  }
  // A place that no pool had was nobody's.
  info_.host = error.host;
  log::debug(log::Component::Router, info_.tags(),
             "upstream reset: reset reason: ", reasonOf(error.kind),
             ", transport failure reason: ", error.transport);
  upstream::Host* const to_blame = attempt.was_informed ? nullptr : error.host;
  if (retries_on_) {
    // Those that a connection was found for have been told so.
    if (!error.request_began && error.host) retry_->hosts().onAttempted(*error.host);
    if (!attempt.was_hedged && isRetried(retry_->afterError(error), false)) {
      countHostError(to_blame);
      return;
    }
  }
  countHostError(to_blame, statusOf(error.kind));
  if (retries_on_ && hasOtherTry(attempt)) {
    chargeFailure(error);
    return;
  }
  fail(error, attempt.was_informed);
}

void Router::chargeFailure(const UpstreamError& error) {
  if (error.kind == UpstreamError::Kind::Overflow) info_.cluster->cluster().countShed();
  charge(statusOf(error.kind), nullptr);
}

void Router::fail(const UpstreamError& error, bool was_informed) {
  const std::string_view reason = reasonOf(error.kind);
  // As the real server: what came before the answer has begun it.
  std::string details = was_informed ? "upstream_reset_after_response_started{"
                                     : "upstream_reset_before_response_started{";
  details.append(reason);
  if (!error.transport.empty()) details.append("|").append(error.transport);
  details.append("}");
  std::string body = "upstream connect error or disconnect/reset before headers. ";
  if (info_.attempts > 1) body.append("retried and the latest ");
  body.append("reset reason: ").append(reason);
  LocalReply answer{statusOf(error.kind), body, details, upstream::flagOf(error.kind)};
  answer.overloaded = error.kind == UpstreamError::Kind::Overflow;
  answer.is_of_router = true;
  if (!was_informed) chargeFailure(error);
  answerInPlace(answer);
}

// ---- counting ----

void Router::charge(uint16_t status, const HeaderMap* headers, bool end) {
  if (isCounted()) count(status, headers);
  if (!headers || !info_.host) return;
  if (status / 100 == 5) {
    countHostError(info_.host, status);
  } else if (!info_.is_grpc) {
    countersOf(*info_.host).rq_success.add();
  } else if (end) {
    countGrpcAnswer(*headers);
  } else {
    awaits_grpc_status_ = true;
  }
}

void Router::countGrpcAnswer(const HeaderMap& fields) {
  if (!info_.host) return;
  if (upstream::hasDoneWell(&fields)) {
    countersOf(*info_.host).rq_success.add();
  } else {
    countHostError(info_.host);
  }
}

void Router::count(uint16_t status, const HeaderMap* headers) {
  const upstream::AnswerOf answer{*info_.cluster, info_.host, info_.is_internal};
  upstream::countStatus(answer, status, isPlain());
  forEachGroup([status](auto& group) { group.countResponse(stats::CodeVariant::All, status); });
  if (headers && info_.host) is_canary_ |= upstream::countCanary(answer, *headers, status);
}

// An answer to gRPC whose head has its status already counts by that; others as the cluster wants
// it, or by their status.
void Router::tellOutlier(upstream::Host& host, const http::ResponseHead& head) {
  uint16_t status = head.status;
  const HeaderEntry* const grpc = info_.is_grpc ? head.headers.find(HeaderId::GrpcStatus) : nullptr;
  const RequestRules* const rules = RequestRules::of(info_.cluster->cluster());
  if (grpc) {
    status = format::httpStatusOfGrpc(format::parseGrpcStatus(grpc->value()));
  } else if (rules && rules->error_match) {
    status = rules->outlierStatusOf(head);
  }
  if (status < 500 && head.headers.find(HeaderId::XEnvoyDegraded)) host.outlier()->onDegraded();
  tellOutlier(&host, upstream::OutlierResult::Answer, status);
}

void Router::takeLoadReport(Attempt& attempt, const HeaderMap& headers) {
  upstream::HostLoad* const load = attempt.host().load();
  if (!load) return;
  const std::optional<upstream::LoadReport> report = upstream::readLoadReport(headers);
  if (!report) return;
  const plan::Cluster& cluster = attempt.hostCluster().settings();
  load->take(*report, cluster, upstream::hostClockMs());
  if (load->uses().metrics) {
    load->record(info_.cluster->context().worker, *report, cluster.reported_metrics);
  }
}

// The host's answer is whole.
void Router::answerComplete(Attempt& attempt) {
  info_.mark(format::TimePoint::UpstreamRxEnd);
  if (try_logs_) try_logs_->end(attempt);
  route_deadline_ = net::kNever;
  if (measures()) {
    measureTime();
    measureTry(attempt);
  }
  if (!isCounted() || info_.request_forwarded_us == 0) return;
  const uint64_t ms = (loop().nowMicros() - info_.request_forwarded_us) / 1000;
  upstream::recordTime({*info_.cluster, info_.host, info_.is_internal}, ms, is_canary_);
  forEachGroup(
      [ms](auto& group) { group.record(stats::VirtualCluster::Histogram::UpstreamRqTime, ms); });
}

// ---- past user space ----

bool Router::beginSplice() {
  if (splice_) return true;
  if (try_filters_) {
    const TryFilters* const filters = filtersOf(*current_);
    if (filters && filters->seesAnswerBody()) return false;
  }
  http::RawSource* const source = hostStream()->rawSource();
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
  http::RawSource* const source = hostStream() ? hostStream()->rawSource() : nullptr;
  const net::Splice::Moved moved =
      splice_->move(source ? source->fd() : -1, sink->fd(), splice_left_);
  splice_left_ -= moved.taken;
  if (try_logs_ && current_) try_logs_->onReceived(*current_, moved.taken);
  stream_.onUpstreamMoved(moved.written, moved.taken + moved.written > 0);
  sink->onGiven(moved.written, false);
  if (splice_left_ == 0 && source) {
    Attempt& attempt = *current_;
    attempt.finish();
    answerComplete(attempt);
    if (info_.trace) endTryTrace(attempt);
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
