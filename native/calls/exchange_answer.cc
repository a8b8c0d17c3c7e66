// A call's way back: what its host answers, or what is said in its place, and who is told.
#include <algorithm>
#include <optional>
#include <utility>

#include "calls/calls.h"
#include "calls/exchange.h"
#include "format/grpc_status.h"
#include "http/grpc_frames.h"

namespace fairlead::calls {

using http::HeaderEntry;
using http::HeaderId;
using http::HeaderMap;
using ClusterCounter = stats::Cluster::Counter;
using ClusterHistogram = stats::Cluster::Histogram;

namespace {

constexpr int64_t kUnknown = 2;
constexpr int64_t kDeadlineExceeded = 4;
constexpr int64_t kResourceExhausted = 8;
constexpr int64_t kInternal = 13;

constexpr int64_t statusOr(int64_t status, int64_t otherwise) {
  return status == format::kInvalidGrpcStatus ? otherwise : status;
}

}  // namespace

// ---- from the host ----

void Exchange::onAttemptHead(upstream::Attempt& attempt, http::ResponseHead& head, bool end) {
  uint16_t outcome = head.status;
  const HeaderEntry* const grpc = isGrpc() ? head.headers.find(HeaderId::GrpcStatus) : nullptr;
  if (grpc) outcome = format::httpStatusOfGrpc(format::parseGrpcStatus(grpc->value()));
  tellOutlier(attempt.host(), upstream::OutlierResult::Answer, outcome);
  upstream::HostCounters& host = countersOf(attempt.host());
  if (isRetried(isWorthRetry(head))) {
    host.rq_error.add();
    cluster_->stats().countResponse(stats::CodeVariant::Retry, head.status);
    attempt.abandon();
    return;
  }
  // How the host did shows in the status of gRPC, where there is one to come.
  awaits_grpc_status_ = isGrpc() && !end && head.status / 100 != 5;
  if (head.status / 100 == 5) {
    host.rq_error.add();
  } else if (!isGrpc()) {
    host.rq_success.add();
  } else if (end) {
    countGrpcAnswer(&head.headers);
  }
  upstream::countStatus(answerOf(&attempt.host()), head.status);
  is_canary_ = upstream::countCanary(answerOf(&attempt.host()), head.headers, head.status);
  attempt.try_deadline = net::kNever;
  has_head_ = true;
  status_ = head.status;
  body_.clear();
  if (!isGrpc() && is_request_complete_) {
    Arena& arena = calls_->arena();
    arena.reset();
    const uint64_t ms = (loop().nowMicros() - request_end_us_) / 1000;
    head.headers.set(HeaderId::XEnvoyUpstreamServiceTime, arena.decimal(ms));
  }
  answer_head_.save({}, {}, {}, head.headers);
  if (end) answerComplete();
  if (isGrpc()) {
    if (head.status != 200 && !(end && grpc)) {
      breakOff(format::grpcStatusOfHttp(head.status), {});
      return;
    }
    if (end) readGrpcStatus(head.headers);
  }
  if (end) {
    this->end();
  } else if (isStream()) {
    loop().defer(this);
  }
}

void Exchange::onAttemptData(upstream::Attempt&, std::string_view data, bool end) {
  if (has_ended_) return;
  answer_.append(data);
  if (end) answerComplete();
  // There ought to have been trailers.
  if (end && std::exchange(awaits_grpc_status_, false)) countGrpcAnswer(nullptr);
  if (isTooLarge()) {
    breakOff(kResourceExhausted, "message is too large");
    return;
  }
  if (end && isGrpc()) grpc_status_ = kUnknown;
  if (end) {
    this->end();
  } else if (isStream()) {
    loop().defer(this);
  }
}

bool Exchange::isTooLarge() const {
  if (kind_ == Kind::HttpStream) return false;
  if (!isGrpc()) return answer_.size() > kMostAnswerBytes;
  const uint32_t most = service_->plan.max_message_bytes;
  return http::grpcMessageBytes(answer_).value_or(0) > (most > 0 ? most : kMostAnswerBytes);
}

void Exchange::onAttemptTrailers(upstream::Attempt&, HeaderMap& trailers) {
  if (has_ended_) return;
  answerComplete();
  if (isGrpc()) readGrpcStatus(trailers);
  if (std::exchange(awaits_grpc_status_, false)) countGrpcAnswer(&trailers);
  if (kind_ == Kind::HttpStream) trailers_.save({}, {}, {}, trailers);
  end();
}

// `fields`: null: the answer has ended without a status.
void Exchange::countGrpcAnswer(const HeaderMap* fields) {
  upstream::countHost(countersOf(attempt_.host()), upstream::hasDoneWell(fields));
}

void Exchange::readGrpcStatus(const HeaderMap& headers) {
  const HeaderEntry* const status = headers.find(HeaderId::GrpcStatus);
  grpc_status_ = status ? statusOr(format::parseGrpcStatus(status->value()), kUnknown) : kUnknown;
  const HeaderEntry* const message = headers.find(HeaderId::GrpcMessage);
  if (message) grpc_message_.assign(message->value());
}

void Exchange::answerComplete() {
  if (!is_request_complete_) return;
  const uint64_t ms = (loop().nowMicros() - request_end_us_) / 1000;
  upstream::recordTime(answerOf(&attempt_.host()), ms, is_canary_);
}

void Exchange::onAttemptFailed(upstream::Attempt&, const upstream::UpstreamError& error) {
  using Failure = upstream::UpstreamError::Kind;
  if (has_ended_) return;
  if (error.host) {
    countersOf(*error.host).rq_error.add();
    if (error.kind != Failure::Overflow) {
      tellOutlier(*error.host, upstream::OutlierResult::ConnectFailed);
    }
  }
  if (has_head_) {
    breakOff(kInternal, "stream reset");
    return;
  }
  if (isRetried(isWorthRetry(error))) return;
  flag_ = format::shortNameOf(upstream::flagOf(error.kind));
  if (isTraced() && error.host) asked_ = error.host->address().text();
  const uint16_t status = error.kind == Failure::ProtocolError ? 502 : 503;
  upstream::countStatus(answerOf(error.host), status);
  std::string text = "upstream connect error or disconnect/reset before headers. reset reason: ";
  std::string details = "upstream_reset_before_response_started{";
  const std::string_view reason = upstream::reasonOf(error.kind);
  text.append(reason);
  details.append(reason);
  if (!error.transport.empty()) details.append("|").append(error.transport);
  details.append("}");
  std::ranges::replace(details, ' ', '_');
  answerLocally(status, text, details);
}

// ---- in its place ----

void Exchange::end() {
  if (std::exchange(has_ended_, true)) return;
  countGoogleEnd();
  deadline_ = retry_at_ = net::kNever;
  Timer::disarm();
  loop().defer(this);
}

// Where the real server's own client has made the answer, its message says why, too.
void Exchange::answerLocally(uint16_t status, std::string_view text, std::string_view details) {
  attempt_.abandon();
  status_ = status;
  is_local_ = true;
  answer_.clear();
  if (service_->isGoogle()) {
    // The gRPC library has its own words, and the real server hears but this of it.
    grpc_status_ = status == 504 ? kDeadlineExceeded : kInternal;
    grpc_message_.assign(status == 504 ? "Deadline Exceeded" : "");
  } else if (isGrpc()) {
    grpc_status_ = format::grpcStatusOfHttp(status);
    grpc_message_.assign(text);
    if (!details.empty()) grpc_message_.append("{").append(details).append("}");
  } else {
    answer_.assign(text);
  }
  end();
}

void Exchange::breakOff(int64_t grpc_status, std::string_view text) {
  attempt_.abandon();
  is_broken_ = true;
  grpc_status_ = grpc_status;
  grpc_message_.assign(text);
  // A stream's owner hears of what came before.
  if (!isStream() || isTooLarge()) answer_.clear();
  end();
}

// ---- telling ----

void Exchange::onDeferred() {
  const uint32_t life = life_;
  if (kind_ == Kind::HttpStream && call_ && !tellParts()) return;
  if (kind_ == Kind::GrpcStream && !call_) answer_.clear();
  if (kind_ == Kind::GrpcStream && call_) {
    if (has_head_ && !std::exchange(told_head_, true)) {
      HeaderMap& headers = calls_->headers();
      answer_head_.restore(&headers);
      call_->owner_.onCallHead(headers);
      if (life != life_) return;
    }
    if (!tellMessages()) return;
    if (std::exchange(tells_writable_, false) && !has_ended_ && !isBehind()) {
      call_->owner_.onCallWritable();
      if (life != life_) return;
    }
  }
  if (has_ended_) tellEnd();
}

// False: its owner wants no more.
bool Exchange::tellParts() {
  const uint32_t life = life_;
  const bool is_whole = has_ended_ && !is_broken_ && !is_local_ && !trailers_.isSet();
  HeaderMap& headers = calls_->headers();
  if (has_head_ && !std::exchange(told_head_, true)) {
    answer_head_.restore(&headers);
    const bool ends = is_whole && answer_.empty();
    call_->owner_.onCallAnswer(status_, headers, ends);
    if (life != life_) return false;
    if (ends) return true;
  }
  if (has_head_ && (!answer_.empty() || is_whole)) {
    call_->owner_.onCallData(answer_, is_whole);
    if (life != life_) return false;
    answer_.clear();
  }
  if (!has_ended_ || !trailers_.isSet()) return true;
  trailers_.restore(&headers);
  call_->owner_.onCallTrailers(headers);
  return life == life_;
}

// False: its owner wants no more.
bool Exchange::tellMessages() {
  const uint32_t life = life_;
  size_t told = 0;
  for (;;) {
    const std::string_view frame = std::string_view(answer_).substr(told);
    const std::optional<size_t> length = http::grpcMessageBytes(frame);
    if (!length) break;
    const uint32_t most = service_->plan.max_message_bytes;
    if (frame[0] != 0 || *length > (most > 0 ? most : kMostAnswerBytes)) {
      told = answer_.size();
      if (!has_ended_) breakOff(frame[0] != 0 ? kInternal : kResourceExhausted, "bad message");
      break;
    }
    if (frame.size() - http::kGrpcFrameHeaderBytes < *length) break;
    call_->owner_.onCallMessage(frame.substr(http::kGrpcFrameHeaderBytes, *length));
    if (life != life_) return false;
    told += http::kGrpcFrameHeaderBytes + *length;
  }
  answer_.erase(0, told);
  return true;
}

// Its memory stays as it is until its owner has heard.
void Exchange::tellEnd() {
  if (!call_) return rest();
  HeaderMap& headers = calls_->headers();
  headers.clear();
  if (has_head_) answer_head_.restore(&headers);
  CallAnswer answer;
  answer.is_broken = is_broken_;
  answer.status = status_;
  answer.is_local = is_local_;
  answer.headers = &headers;
  answer.grpc_status = grpc_status_;
  answer.grpc_message = grpc_message_;
  if (!isGrpc()) {
    answer.body = answer_;
  } else if (kind_ == Kind::Grpc && grpc_status_ == 0) {
    std::string_view rest = answer_;
    const bool is_plain = !rest.empty() && rest[0] == 0;
    if (!is_plain || !http::takeGrpcFrame(&rest, &answer.body)) {
      answer.grpc_status = kInternal;
      answer.body = {};
    }
  }
  answer.bytes = bytes_;
  if (isTraced()) endSpan(&answer);
  Call& call = *std::exchange(call_, nullptr);
  call.exchange_ = nullptr;
  call.owner_.onCallEnd(answer);
  rest();
}

// ---- its span ----

void Exchange::beginSpan(tracing::RequestTrace& trace, const CallHead& head) {
  const plan::Service& plan = service_->plan;
  std::string name = "async ";
  if (isGrpc()) {
    std::string method(head.path.substr(1));
    std::ranges::replace(method, '/', '.');
    name.append(method);
  } else {
    name.append(plan.cluster);
  }
  name.append(" egress");
  if (!span_) span_ = std::make_unique<tracing::CallSpan>();
  if (!trace.beginCall(name, loop().nowMicros(), calls_->context().random, span_.get())) return;
  if (isGrpc()) {
    span_->tag("upstream_cluster", service_->isGoogle() ? plan.stat_prefix : plan.cluster);
    span_->tag("upstream_address", plan.authority);
    span_->tag("component", "proxy");
  }
  span_->tellHost(*head.headers, calls_->arena());
}

// As the real server's clients do. `answer`: null: nobody waits for one.
void Exchange::endSpan(const CallAnswer* answer) {
  tracing::CallSpan& span = *span_;
  if (isGrpc() && !answer) {
    span.tag("status", "canceled");
  } else if (isGrpc()) {
    span.tag("grpc.status_code", std::to_string(answer->grpc_status));
    if (answer->grpc_status != 0) span.tag("error", "true");
    call_->owner_.onCallSpan(span, *answer);
  } else {
    if (!answer) span.tag("canceled", "true");
    if (answer && is_broken_) span.tag("error.reason", "Reset");
    if (answer) call_->owner_.onCallSpan(span, *answer);
    const upstream::Cluster* const cluster = cluster_ ? &cluster_->cluster() : nullptr;
    span.tagHttp({cluster ? std::string_view(cluster->name()) : std::string_view(),
                  cluster ? std::string_view(cluster->observabilityName()) : std::string_view(),
                  asked_, status_, flag_});
  }
  span.end(loop().nowMicros(), calls_->context().worker, asked_);
}

// ---- counting ----

// What the gRPC library itself would count.
void Exchange::countGoogleEnd() {
  constexpr int64_t kLastStatus = 16;
  if (!service_->google_stats || grpc_status_ < 0 || grpc_status_ > kLastStatus) return;
  using GoogleCounter = stats::GoogleGrpc::Counter;
  constexpr GoogleCounter kClosed[] = {
      GoogleCounter::StreamsClosed0,  GoogleCounter::StreamsClosed1,
      GoogleCounter::StreamsClosed2,  GoogleCounter::StreamsClosed3,
      GoogleCounter::StreamsClosed4,  GoogleCounter::StreamsClosed5,
      GoogleCounter::StreamsClosed6,  GoogleCounter::StreamsClosed7,
      GoogleCounter::StreamsClosed8,  GoogleCounter::StreamsClosed9,
      GoogleCounter::StreamsClosed10, GoogleCounter::StreamsClosed11,
      GoogleCounter::StreamsClosed12, GoogleCounter::StreamsClosed13,
      GoogleCounter::StreamsClosed14, GoogleCounter::StreamsClosed15,
      GoogleCounter::StreamsClosed16};
  service_->google_stats->shard(calls_->context().worker + 1)->add(kClosed[grpc_status_]);
}

void Exchange::tellOutlier(upstream::Host& host, upstream::OutlierResult result, uint16_t status) {
  if (!host.outlier()) return;
  host.outlier()->put(countersOf(host), result, status);
}

upstream::HostCounters& Exchange::countersOf(upstream::Host& host) {
  return host.counters(calls_->context().worker);
}

}  // namespace fairlead::calls
