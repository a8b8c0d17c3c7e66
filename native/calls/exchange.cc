// A call's way out: its head, its hosts, its tries.
#include "calls/exchange.h"

#include <algorithm>
#include <utility>

#include "calls/calls.h"
#include "http/grpc_frames.h"
#include "http/header_syntax.h"
#include "log/log.h"
#include "route/retry_policy.h"
#include "upstream/server_name.h"

namespace fairlead::calls {

using http::HeaderId;
using http::HeaderMap;
using route::RetryOn;
using ClusterCounter = stats::Cluster::Counter;

namespace {

// A body of this size is not kept from use to use.
constexpr size_t kKeptBytes = 16 * 1024;

// Between looks whether a name is known.
constexpr net::Millis kNamePauseMs = 20;

void clear(std::string& text) {
  text.clear();
  if (text.capacity() > kKeptBytes) text.shrink_to_fit();
}

}  // namespace

net::Loop& Exchange::loop() { return calls_->loop(); }

// ---- the request ----

void Exchange::begin(Call* call, Calls& calls, const Service& service, Kind kind,
                     const CallHead& head, std::string_view body, std::shared_ptr<const void> kept,
                     upstream::WorkerCluster* cluster) {
  call_ = call;
  kept_ = std::move(kept);
  calls_ = &calls;
  service_ = &service;
  kind_ = kind;
  const plan::Service& plan = service.plan;
  HeaderMap& headers = *head.headers;
  Arena& arena = calls.arena();
  if (plan.timeout_ms > 0 && kind != Kind::GrpcStream && !service.isGoogle()) {
    headers.set(HeaderId::XEnvoyExpectedRqTimeoutMs, arena.decimal(plan.timeout_ms));
  }
  if (plan.is_internal) headers.set(HeaderId::XEnvoyInternal, "true");
  if (!plan.local_address.empty()) headers.set(HeaderId::XForwardedFor, plan.local_address);
  if (call && call->trace_) beginSpan(*std::exchange(call->trace_, nullptr), head);
  head_.save(head.method, head.path, head.authority, headers);
  body_.assign(body);
  is_request_complete_ = kind != Kind::GrpcStream;
  if (plan.retry) {
    retries_left_ = plan.retry->num_retries;
    next_interval_ms_ = std::max<uint64_t>(1, plan.retry->base_interval_ms);
  }
  calls.prepare(service);
  if (service.google_stats) {
    service.google_stats->shard(calls.context().worker + 1)
        ->add(stats::GoogleGrpc::Counter::StreamsTotal);
  }
  cluster_ = cluster ? cluster : calls.clusters().find(service.cluster.id());
  if (!cluster_) {
    // Of HTTP nobody begins one.
    if (!isGrpc() && span_) span_->drop();
    answerLocally(503, "Cluster not available");
    return;
  }
  if (!service.isGoogle()) calls.countRequest();
  cluster_->hold();
  if (is_request_complete_) requestComplete();
  if (cluster_->isRefusingForMaintenance()) {
    return refuse("UO", "maintenance mode", "maintenance_mode");
  }
  if (cluster_->cluster().drops(calls.context().random)) {
    return refuse("DO", "drop overload", "drop_overload");
  }
  ask();
}

void Exchange::refuse(std::string_view flag, std::string_view text, std::string_view details) {
  upstream::countStatus(answerOf(nullptr), 503);
  flag_ = flag;
  answerLocally(503, text, details);
}

void Exchange::ask() {
  // It is this proxy's own, which speaks HTTP/1 where the host leaves it the choice.
  upstream::HttpPool* pool = cluster_->chooseHttpPool(http::Version::Http11);
  if (!pool) {
    if (isNameAwaited()) return;
    return refuse("UH", "no healthy upstream", "no_healthy_upstream");
  }
  upstream::PoolUse use;
  if (cluster_->settings().auto_sni) {
    HeaderMap& headers = calls_->headers();
    head_.restore(&headers);
    upstream::useServerName(head_.authority(), headers, cluster_->settings(), &use);
  }
  pool = &cluster_->poolOf(*pool, use);
  if (!pool->cluster().admits(*pool)) {
    upstream::countStatus(answerOf(nullptr), 503);
    answerLocally(503, "no healthy upstream", "no_healthy_upstream");
    return;
  }
  attempt_.start(*pool, 0);
}

// As with a library of its own, which looks the name up: what fails does so at once.
bool Exchange::isNameAwaited() {
  const bool is_awaited = cluster_->cluster().awaitsName();
  // Hosts that have just come may not be known on this worker yet.
  if (!is_awaited && !std::exchange(waits_for_name_, false)) return false;
  waits_for_name_ = is_awaited;
  retry_at_ = loop().now() + kNamePauseMs;
  watch(retry_at_);
  return true;
}

void Exchange::onAttemptReady(upstream::Attempt& attempt, upstream::PooledConnection&) {
  if (isTraced()) asked_ = attempt.host().address().text();
  tellOutlier(attempt.host(), upstream::OutlierResult::Connected);
  sendAll(*attempt.stream());
}

void Exchange::sendAll(http::ClientStream& to) {
  HeaderMap& headers = calls_->headers();
  head_.restore(&headers);
  if (isHeadBroken(headers)) return;
  const bool ends_with_head = is_request_complete_ && body_.empty();
  to.sendHead({head_.method(), head_.path(), head_.authority(), &headers}, ends_with_head);
  if (!ends_with_head && (!body_.empty() || is_request_complete_)) {
    to.sendData(body_, is_request_complete_);
  }
  // Before what is sent is cleared.
  to.flush();
  if (retries_left_ == 0) clear(body_);
  const auto& retry = service_->plan.retry;
  if (!retry || kind_ == Kind::GrpcStream || !attempt_.isActive()) return;
  // As the real server has it, a try takes no longer than the longest pause before the next.
  attempt_.try_deadline = loop().now() + retry->max_interval_ms;
  watch(attempt_.try_deadline);
}

// What is configured to go along may be what no head can hold. As the real server, which asks a
// host for a place first; its client's answer counts nowhere. True: it was answered.
bool Exchange::isHeadBroken(const HeaderMap& headers) {
  const std::optional<std::string> why =
      http::brokenHeader(head_.method(), head_.path(), head_.authority(), headers);
  if (!why) return false;
  flag_ = "DPE";
  answerLocally(503, *why);
  return true;
}

// Its time runs from here on.
void Exchange::requestComplete() {
  request_end_us_ = loop().nowMicros();
  if (service_->plan.timeout_ms == 0 || kind_ == Kind::GrpcStream) return;
  deadline_ = loop().now() + service_->plan.timeout_ms;
  watch(deadline_);
}

void Exchange::send(std::string_view message) {
  FL_DCHECK(kind_ == Kind::GrpcStream && !is_request_complete_);
  if (has_ended_) return;
  std::string frame;
  http::appendGrpcFrameHeader(&frame, 0, message.size());
  http::ClientStream* const to = attempt_.stream();
  if (!to) {
    body_.append(frame).append(message);
    return;
  }
  to->sendData(frame, false);
  to->sendData(message, false);
  to->flush();
}

void Exchange::finish() {
  FL_DCHECK(kind_ == Kind::GrpcStream && !is_request_complete_);
  if (has_ended_) return;
  if (isTraced()) endSpan(nullptr);
  is_request_complete_ = true;
  requestComplete();
  if (http::ClientStream* const to = attempt_.stream()) {
    to->sendData({}, true);
    to->flush();
  }
}

bool Exchange::isBehind() const {
  constexpr size_t kMostWaiting = 64 * 1024;
  http::ClientStream* const to = attempt_.stream();
  return to ? to->isOverHighWatermark() : body_.size() > kMostWaiting;
}

void Exchange::onAttemptWritable(upstream::Attempt&) {
  if (kind_ != Kind::GrpcStream) return;
  tells_writable_ = true;
  loop().defer(this);
}

void Exchange::pause() {
  if (http::ClientStream* const to = attempt_.stream()) to->pauseReading();
}

void Exchange::resume() {
  if (http::ClientStream* const to = attempt_.stream()) to->resumeReading();
}

// ---- another try ----

bool Exchange::isWorthRetry(const http::ResponseHead& head) const {
  const uint32_t on = service_->retry_on;
  if (head.headers.find(HeaderId::XEnvoyRateLimited)) return (on & RetryOn::kRateLimited) != 0;
  const uint16_t status = head.status;
  if ((on & RetryOn::k5xx) != 0 && status >= 500 && status < 600) return true;
  if ((on & RetryOn::kGatewayError) != 0 && status >= 502 && status <= 504) return true;
  if ((on & RetryOn::kRetriable4xx) != 0 && status == 409) return true;
  const http::HeaderEntry* const grpc = head.headers.find(HeaderId::GrpcStatus);
  return grpc && (on & route::retryOnOfGrpcStatus(grpc->value())) != 0;
}

bool Exchange::isWorthRetry(const upstream::UpstreamError& error) const {
  using Kind = upstream::UpstreamError::Kind;
  const uint32_t on = service_->retry_on;
  if (error.kind == Kind::Overflow) return false;
  if ((on & (RetryOn::kReset | RetryOn::k5xx | RetryOn::kGatewayError)) != 0) return true;
  if ((on & RetryOn::kResetBeforeRequest) != 0 && !error.request_began) return true;
  if ((on & RetryOn::kRefusedStream) != 0 && error.kind == Kind::RemoteRefused) return true;
  return (on & RetryOn::kConnectFailure) != 0 && upstream::isOfConnecting(error.kind);
}

void Exchange::giveRetryBack() {
  if (std::exchange(holds_retry_, false)) cluster_->cluster().limits(0).retries.giveBack();
}

bool Exchange::isRetried(bool is_worth_retry) {
  // A stream's messages are not kept.
  if (service_->retry_on == 0 || kind_ == Kind::GrpcStream) return false;
  stats::Shard<stats::Cluster>& stats = cluster_->stats();
  if (holds_retry_ && !is_worth_retry) stats.add(ClusterCounter::UpstreamRqRetrySuccess);
  giveRetryBack();
  if (!is_worth_retry) return false;
  if (retries_left_ == 0) {
    stats.add(ClusterCounter::UpstreamRqRetryLimitExceeded);
    return false;
  }
  upstream::Limits& limits = cluster_->cluster().limits(0);
  if (!limits.canRetry()) {
    stats.add(ClusterCounter::UpstreamRqRetryOverflow);
    return false;
  }
  --retries_left_;
  limits.retries.take();
  holds_retry_ = true;
  stats.add(ClusterCounter::UpstreamRqRetry);
  stats.add(ClusterCounter::UpstreamRqRetryBackoffExponential);
  retry_at_ = loop().now() + calls_->context().random.below(next_interval_ms_);
  const uint64_t most = std::max(next_interval_ms_, service_->plan.retry->max_interval_ms);
  next_interval_ms_ = std::min<uint64_t>(next_interval_ms_ * 2, most);
  watch(retry_at_);
  return true;
}

void Exchange::watch(net::Millis deadline) { loop().timers().armBy(this, deadline); }

void Exchange::onTimer() {
  if (!calls_ || has_ended_) return;
  const net::Millis now = loop().now();
  if (deadline_ <= now) {
    deadline_ = net::kNever;
    retry_at_ = net::kNever;
    if (const std::function<void()> on_time = std::exchange(on_time_, nullptr)) {
      on_time();
      rest();
      return;
    }
    onTimeout();
    return;
  }
  if (retry_at_ <= now) {
    retry_at_ = net::kNever;
    ask();
    // It may be over already, or wait for another try.
    if (!calls_ || has_ended_) return;
  }
  if (attempt_.try_deadline <= now) {
    onTryTimeout();
    if (has_ended_) return;
  }
  const net::Millis next = std::min({deadline_, retry_at_, attempt_.try_deadline});
  if (next != net::kNever) watch(next);
}

void Exchange::onTimeout() {
  cluster_->stats().add(ClusterCounter::UpstreamRqTimeout);
  const bool is_first = !has_head_;
  const bool is_asked = attempt_.isActive() && !attempt_.isWaiting();
  if (is_first) upstream::countStatus(answerOf(is_asked ? &attempt_.host() : nullptr), 504);
  // A host that has not been asked is not to blame.
  if (is_asked) {
    upstream::HostCounters& host = countersOf(attempt_.host());
    host.rq_timeout.add();
    if (is_first) {
      host.rq_error.add();
      tellOutlier(attempt_.host(), upstream::OutlierResult::Timeout, 504);
    }
  }
  flag_ = "UT";
  if (is_first) {
    answerLocally(504, "upstream request timeout");
  } else {
    breakOff(14, "upstream request timeout");
  }
}

void Exchange::onTryTimeout() {
  cluster_->stats().add(ClusterCounter::UpstreamRqPerTryTimeout);
  upstream::Host& host = attempt_.host();
  countersOf(host).rq_timeout.add();
  countersOf(host).rq_error.add();
  tellOutlier(host, upstream::OutlierResult::Timeout, 504);
  attempt_.abandon();
  const upstream::UpstreamError error{upstream::UpstreamError::Kind::LocalReset, &host, true};
  if (isRetried(isWorthRetry(error))) return;
  upstream::countStatus(answerOf(&host), 504);
  flag_ = "UT";
  answerLocally(504, "upstream request timeout");
}

// ---- the end ----

void Exchange::cancel() {
  if (isTraced()) endSpan(nullptr);
  call_ = nullptr;
  rest();
}

void Exchange::leave(uint64_t ms, std::function<void()> on_time) {
  if (has_ended_) return cancel();
  // Its request's configuration may not be there for as long.
  if (isTraced()) endSpan(nullptr);
  call_ = nullptr;
  on_time_ = std::move(on_time);
  deadline_ = loop().now() + ms;
  watch(deadline_);
}

void Exchange::abort() {
  if (call_) std::exchange(call_, nullptr)->exchange_ = nullptr;
  if (cluster_) giveRetryBack();
  attempt_.release();
  if (cluster_) std::exchange(cluster_, nullptr)->letGo();
}

// As new from here on, and may be another one at once.
void Exchange::rest() {
  if (!calls_) return;
  abort();
  Timer::disarm();
  Deferred::unlink();
  ++life_;
  Calls& calls = *std::exchange(calls_, nullptr);
  service_ = nullptr;
  kept_.reset();
  on_time_ = nullptr;
  bytes_ = {};
  if (span_) span_->drop();
  asked_.clear();
  flag_ = {};
  head_.clear();
  answer_head_.clear();
  trailers_.clear();
  clear(body_);
  clear(answer_);
  clear(grpc_message_);
  grpc_status_ = 0;
  deadline_ = retry_at_ = net::kNever;
  next_interval_ms_ = 0;
  request_end_us_ = 0;
  retries_left_ = 0;
  status_ = 0;
  is_request_complete_ = is_local_ = is_broken_ = has_ended_ = false;
  waits_for_name_ = false;
  has_head_ = told_head_ = tells_writable_ = false;
  awaits_grpc_status_ = is_canary_ = false;
  calls.give(*this);
}

}  // namespace fairlead::calls
