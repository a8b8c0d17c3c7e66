// A copy's answer, which is only counted, and logged where tries are.
#include <algorithm>

#include "proxy/downstream.h"
#include "proxy/mirror.h"
#include "proxy/mirror_tries.h"
#include "upstream/answer_counts.h"

namespace fairlead::proxy {

using http::HeaderMap;
using ClusterCounter = stats::Cluster::Counter;

void Mirror::onAttemptInformational(upstream::Attempt& attempt, http::ResponseHead& head) {
  if (counts_no_answers_) return;
  count(head.status, &attempt.host());
  countCanary(head);
}

void Mirror::onAttemptHead(upstream::Attempt& attempt, http::ResponseHead& head, bool end) {
  if (is_upgrade_ && head.status == 200 && !end && speaks_http2_) head.status = 101;
  // As of a request itself: such an answer gets no further, and counts for nothing.
  if (is_websocket_ && head.status != 101 && head.status < 400) return endWith(head.status);
  if (TryLogs* const logs = tryLogs()) logs->onAnswer(attempt, head);
  charge(head.status, &attempt.host());
  tellOutlier(attempt.host(), upstream::OutlierResult::Answer, head.status);
  if (!counts_no_answers_) countCanary(head);
  const bool has_failed = head.status / 100 == 5;
  awaits_grpc_status_ = is_grpc_ && !has_failed && !end;
  if (is_grpc_ && !has_failed && end) {
    countHost(attempt.host(), upstream::hasDoneWell(&head.headers));
  } else if (!awaits_grpc_status_) {
    countHost(attempt.host(), !has_failed);
  }
  if (end) answerComplete();
}

void Mirror::onAttemptData(upstream::Attempt& attempt, std::string_view data, bool end) {
  if (TryLogs* const logs = tryLogs()) logs->onReceived(attempt, data.size());
  if (!end) return;
  if (awaits_grpc_status_) countHost(attempt.host(), false);
  answerComplete();
}

void Mirror::onAttemptTrailers(upstream::Attempt& attempt, HeaderMap& trailers) {
  if (TryLogs* const logs = tryLogs()) logs->onTrailers(attempt, trailers);
  if (awaits_grpc_status_) countHost(attempt.host(), upstream::hasDoneWell(&trailers));
  answerComplete();
}

void Mirror::countCanary(const http::ResponseHead& head) {
  const upstream::AnswerOf answer{*cluster_, &attempt_.host(), true};
  is_canary_ |= upstream::countCanary(answer, head.headers, head.status);
}

void Mirror::answerComplete() {
  if (TryLogs* const logs = tryLogs()) logs->end(attempt_);
  if (request_complete_ && !counts_no_answers_) {
    const uint64_t ms = (loop().nowMicros() - request_end_us_) / 1000;
    upstream::recordTime({*cluster_, &attempt_.host(), true}, ms, is_canary_);
  }
  // It may have been answered before it was whole.
  holdUpNoLonger();
  restIfOver();
}

void Mirror::holdUpNoLonger() {
  if (sender_) sender_->onMirrorWritable();
}

void Mirror::onAttemptFailed(upstream::Attempt& attempt, const upstream::UpstreamError& error) {
  // As the real server: what came before the answer has begun it, and counted.
  const bool was_informed = attempt.was_informed;
  if (error.host) {
    if (!was_informed) countHost(*error.host, false);
    if (error.kind != upstream::UpstreamError::Kind::Overflow) {
      tellOutlier(*error.host, upstream::OutlierResult::ConnectFailed);
    }
  }
  if (isTraced()) {
    if (error.host) traceAsked(*error.host);
    traced_->flag = format::shortNameOf(upstream::flagOf(error.kind));
  }
  if (TryLogs* const logs = tryLogs()) {
    tries_->info.touchUncommon().transport_failure = error.transport;
    logs->onFlag(attempt, upstream::flagOf(error.kind));
    logs->end(attempt);
  }
  is_broken_ = status_ != 0;
  if (status_ == 0) {
    const uint16_t status = error.kind == upstream::UpstreamError::Kind::ProtocolError ? 502 : 503;
    if (was_informed) {
      status_ = status;
    } else {
      charge(status, error.host);
    }
  }
  dropBody();
  holdUpNoLonger();
  restIfOver();
}

void Mirror::onTimer() {
  if (!context_) return;
  const net::Millis now = loop().now();
  TryLogs* const logs = tryLogs();
  if (logs) logs->tellDue(now);
  if (deadline_ > now) {
    const net::Millis next = std::min(deadline_, logs ? logs->due() : net::kNever);
    if (next != net::kNever) loop().timers().arm(this, next);
    return;
  }
  deadline_ = net::kNever;
  if (!names_ && !attempt_.isActive()) return;
  cluster_->stats().add(ClusterCounter::UpstreamRqTimeout);
  const bool is_first = status_ == 0;
  is_broken_ = !is_first;
  if (isTraced()) traced_->flag = "UT";
  if (is_first) charge(504, isWaiting() ? nullptr : &attempt_.host());
  // A host that has not been asked is not to blame.
  if (!isWaiting()) {
    upstream::HostCounters& host = attempt_.host().counters(context_->upstream.worker);
    host.rq_timeout.add();
    if (is_first) {
      host.rq_error.add();
      tellOutlier(attempt_.host(), upstream::OutlierResult::Timeout, 504);
    }
  }
  giveUp();
  restIfOver();
}

void Mirror::countHost(upstream::Host& host, bool is_well) {
  upstream::countHost(host.counters(context_->upstream.worker), is_well);
}

void Mirror::tellOutlier(upstream::Host& host, upstream::OutlierResult result, uint16_t status) {
  if (!host.outlier()) return;
  host.outlier()->put(host.counters(context_->upstream.worker), result, status);
}

void Mirror::charge(uint16_t status, const upstream::Host* host) {
  status_ = status;
  if (!counts_no_answers_) count(status, host);
}

void Mirror::count(uint16_t status, const upstream::Host* host) {
  upstream::countStatus({*cluster_, host, true}, status, !is_grpc_ || !counts_no_grpc_failures_);
}

}  // namespace fairlead::proxy
