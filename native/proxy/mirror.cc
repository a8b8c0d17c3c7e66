#include "proxy/mirror.h"

#include <utility>

#include "http/header_syntax.h"
#include "log/log.h"
#include "proxy/destination.h"
#include "proxy/downstream.h"
#include "proxy/extended_connect.h"
#include "proxy/pool_use.h"
#include "proxy/subset_wish.h"
#include "upstream/answer_counts.h"

namespace fairlead::proxy {

using http::HeaderEntry;
using http::HeaderId;
using http::HeaderMap;
using ClusterCounter = stats::Cluster::Counter;
using ClusterHistogram = stats::Cluster::Histogram;

// ---- the pool ----

MirrorPool::MirrorPool() : resting_(kMaxResting) {}

MirrorPool::~MirrorPool() { endActive(); }

void MirrorPool::endActive() {
  while (Mirror* mirror = active_.popFront()) {
    mirror->abort();
    delete mirror;
  }
}

Mirror& MirrorPool::take() {
  Mirror* const mirror = resting_.take();
  active_.pushBack(mirror);
  return *mirror;
}

void MirrorPool::give(Mirror& mirror, net::Loop& loop) {
  mirror.ListNode<Mirror>::unlink();
  resting_.give(&mirror, loop);
}

// ---- the request ----

namespace {

// "host-shadow:80" of "host:80": logs of the other cluster then tell copies from requests.
std::string_view shadowed(std::string_view authority, Arena& arena) {
  constexpr std::string_view kSuffix = "-shadow";
  const size_t colon = authority.find(':');
  const bool has_port =
      colon != std::string_view::npos && authority.find(':', colon + 1) == std::string_view::npos;
  if (!has_port) return arena.join(authority, kSuffix);
  return arena.join(authority.substr(0, colon), kSuffix, authority.substr(colon));
}

}  // namespace

void Mirror::prepare(MirrorSender& sender, const StreamInfo& info, upstream::WorkerCluster& cluster,
                     const route::MirrorPolicy& policy, const http::RequestHead& head, bool end,
                     net::Millis timeout_ms, bool may_be_broken) {
  context_ = &info.context();
  sender_ = &sender;
  cluster_ = &cluster;
  cluster_->hold();
  local_address_ = info.config().plan.local_address;
  buffer_limit_bytes_ = info.bufferLimit();
  timeout_ms_ = timeout_ms;
  has_body_ = !end;
  is_grpc_ = info.is_grpc;
  is_upgrade_ = info.is_upgrade;
  is_websocket_ = info.is_websocket;
  counts_no_answers_ = info.config().router.counts_no_answers;
  counts_no_grpc_failures_ = info.config().router.counts_no_grpc_failures;
  scheme_ = info.scheme == "https" ? "https" : "http";
  std::string_view host = policy.host;
  if (host.empty()) {
    host = policy.keeps_host ? head.authority : shadowed(head.authority, context_->arena);
  }
  const HeaderMap& headers =
      policy.changes.empty() ? head.headers : changed(info, policy, head.headers);
  if (info.trace) beginTrace(info, policy, headers);
  head_.save(head.method, head.path, host, traced_ ? context_->headers : headers);
  if (may_be_broken || !policy.changes.empty()) {
    has_broken_head_ = http::brokenHeader(head.method, head.path, host, headers).has_value();
  }
  if (cluster.asksRequests()) noteWanted(info, headers);
  use_ = {};
  if (!hasSpecialUses(cluster.cluster())) return;
  use_ = poolUseOf(host, headers, cluster.cluster(), *info.downstream);
}

// As the request's own, but for what its connection and the filter state say of the destination.
void Mirror::noteWanted(const StreamInfo& info, const HeaderMap& headers) {
  const plan::SubsetCriteria* const configured = &info.target->criteria;
  const std::vector<format::SetMetadata>& metadata = info.uncommon().metadata;
  wanted_ = std::make_unique<Wanted>();
  std::optional<plan::SubsetCriteria> own =
      subsetOf(configured, info.downstream->findings(), metadata);
  wanted_->criteria = own ? std::move(*own) : *configured;
  if (const plan::DestinationHosts* const rules = cluster_->destinationRules()) {
    wanted_->destination =
        findDestination(*rules, {&headers, metadata}, nullptr, cluster_->stats());
  }
  if (const plan::NamedHosts* const hosts = cluster_->namedHosts()) {
    wanted_->name = upstream::nameWithPort(head_.authority(), hosts->default_port);
  }
}

// It is this proxy's own, which speaks HTTP/1 where the host leaves it the choice.
upstream::HttpPool* Mirror::choosePool() {
  constexpr http::Version kOwn = http::Version::Http11;
  if (!wanted_) return cluster_->chooseHttpPool(kOwn);
  upstream::HostWish wish;
  wish.criteria = &wanted_->criteria;
  if (wanted_->destination) wish.destination = &*wanted_->destination;
  wish.name = wanted_->name;
  return cluster_->chooseHttpPool(kOwn, wish);
}

// Values are made of the copy's head, as the changes before have left it.
const HeaderMap& Mirror::changed(const StreamInfo& info, const route::MirrorPolicy& policy,
                                 const HeaderMap& from) {
  HeaderMap& headers = context_->headers;
  headers.assign(from);
  format::FormatContext format;
  info.fill(&format);
  format.request_headers = &headers;
  policy.changes.apply(headers, format, context_->arena);
  headers.remove(HeaderId::TransferEncoding);  // The codec's.
  // Said anew of the copy, whatever became of it.
  const HeaderEntry* const expected = from.find(HeaderId::XEnvoyExpectedRqTimeoutMs);
  if (expected) headers.set(HeaderId::XEnvoyExpectedRqTimeoutMs, expected->value());
  return headers;
}

void Mirror::start() {
  context_->calls.countRequest();
  if (!has_body_) requestComplete();
  if (cluster_->isRefusingForMaintenance()) return refuse("UO");
  if (cluster_->cluster().drops(context_->upstream.random)) return refuse("DO");
  if (!waitsForHost()) startAttempt();
}

void Mirror::startAttempt() {
  upstream::HttpPool* pool = choosePool();
  if (pool) pool = &cluster_->poolOf(*pool, use_);
  if (pool && pool->cluster().admits(*pool)) {
    attempt_.start(*pool, 0);
  } else {
    refuse("UH");
  }
}

void Mirror::refuse(std::string_view flag) {
  if (traced_) traced_->flag = flag;
  charge(503);
}

void Mirror::onAttemptReady(upstream::Attempt& attempt, upstream::PooledConnection& connection) {
  if (traced_) traceAsked(attempt.host());
  tellOutlier(attempt.host(), upstream::OutlierResult::Connected);
  if (has_broken_head_) return refuseHead();
  speaks_http2_ = connection.codec().protocol() == "HTTP/2";
  sendKept();
}

// As of a request itself: its host hears nothing, and nothing counts.
void Mirror::refuseHead() {
  status_ = 503;
  if (traced_) traced_->flag = "DPE";
  giveUp();
  dropBody();
  holdUpNoLonger();
  restIfOver();
}

void Mirror::sendKept() {
  http::ClientStream& to = *attempt_.stream();
  HeaderMap& headers = context_->headers;
  head_.restore(&headers);
  // As if this proxy's own: it is asked for by nobody else.
  headers.set(HeaderId::XEnvoyInternal, "true");
  if (HeaderEntry* const forwarded = headers.find(HeaderId::XForwardedFor)) {
    forwarded->setValue(context_->arena.join(forwarded->value(), ",", local_address_));
  } else if (!local_address_.empty()) {
    headers.add(HeaderId::XForwardedFor, "x-forwarded-for", local_address_);
  }
  http::RequestOut out{head_.method(), head_.path(), head_.authority(), &headers, scheme_};
  out.upgrades = is_upgrade_;
  if (is_upgrade_ && speaks_http2_) {
    sendExtendedConnect(to, out, !has_body_);
  } else {
    to.sendHead(out, !has_body_);
  }
  body_.forEachPiece([&to](std::string_view piece) { to.sendData(piece, false); });
  if (has_body_ && request_complete_ && !trailers_.isSet()) to.sendData({}, true);
  if (trailers_.isSet()) {
    trailers_.restore(&headers);
    to.sendTrailers(&headers);
  }
  // Before what is sent is cleared.
  to.flush();
  dropBody();
  if (sender_) sender_->onMirrorWritable();
}

void Mirror::onData(std::string_view data, bool end) {
  if (end) requestComplete();
  if (http::ClientStream* const to = attempt_.stream()) {
    to->sendData(data, end);
    if (!end) to->flush();
  } else if (isWaiting()) {
    body_.append(loop().slabs(), data);
  }
}

void Mirror::onTrailers(HeaderMap& trailers) {
  requestComplete();
  if (http::ClientStream* const to = attempt_.stream()) {
    to->sendTrailers(&trailers);
  } else if (isWaiting()) {
    trailers_.save({}, {}, {}, trailers);
  }
}

// Its time runs from here on.
void Mirror::requestComplete() {
  request_complete_ = true;
  request_end_us_ = loop().nowMicros();
  if (timeout_ms_ == 0) return;
  deadline_ = loop().now() + timeout_ms_;
  if (!Timer::isArmed() || deadline_ < due()) loop().timers().arm(this, deadline_);
}

bool Mirror::isBehind() const {
  if (isWaiting()) return body_.size() > buffer_limit_bytes_;
  return attempt_.stream() && attempt_.stream()->isOverHighWatermark();
}

void Mirror::onAttemptWritable(upstream::Attempt&) {
  if (sender_ && !isBehind()) sender_->onMirrorWritable();
}

// ---- the answer, which is only counted ----

void Mirror::onAttemptInformational(upstream::Attempt& attempt, http::ResponseHead& head) {
  if (counts_no_answers_) return;
  count(head.status, &attempt.host());
  upstream::countCanary({*cluster_, &attempt.host(), true}, head.headers, head.status);
}

void Mirror::onAttemptHead(upstream::Attempt& attempt, http::ResponseHead& head, bool end) {
  if (is_upgrade_ && head.status == 200 && !end && speaks_http2_) head.status = 101;
  // As of a request itself: such an answer gets no further, and counts for nothing.
  if (is_websocket_ && head.status != 101 && head.status < 400) {
    status_ = head.status;
    giveUp();
    holdUpNoLonger();
    restIfOver();
    return;
  }
  charge(head.status, &attempt.host());
  tellOutlier(attempt.host(), upstream::OutlierResult::Answer, head.status);
  if (!counts_no_answers_) {
    upstream::countCanary({*cluster_, &attempt.host(), true}, head.headers, head.status);
  }
  const bool has_failed = head.status / 100 == 5;
  awaits_grpc_status_ = is_grpc_ && !has_failed && !end;
  if (is_grpc_ && !has_failed && end) {
    countHost(attempt.host(), upstream::hasDoneWell(&head.headers));
  } else if (!awaits_grpc_status_) {
    countHost(attempt.host(), !has_failed);
  }
  if (end) answerComplete();
}

void Mirror::onAttemptData(upstream::Attempt& attempt, std::string_view, bool end) {
  if (!end) return;
  if (awaits_grpc_status_) countHost(attempt.host(), false);
  answerComplete();
}

void Mirror::onAttemptTrailers(upstream::Attempt& attempt, HeaderMap& trailers) {
  if (awaits_grpc_status_) countHost(attempt.host(), upstream::hasDoneWell(&trailers));
  answerComplete();
}

void Mirror::answerComplete() {
  if (request_complete_ && !counts_no_answers_) {
    const uint64_t ms = (loop().nowMicros() - request_end_us_) / 1000;
    upstream::recordTime({*cluster_, &attempt_.host(), true}, ms);
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
  if (traced_) {
    if (error.host) traceAsked(*error.host);
    traced_->flag = format::shortNameOf(upstream::flagOf(error.kind));
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
  if (!context_ || deadline_ == net::kNever) return;
  if (deadline_ > loop().now()) {
    loop().timers().arm(this, deadline_);
    return;
  }
  deadline_ = net::kNever;
  if (!names_ && !attempt_.isActive()) return;
  cluster_->stats().add(ClusterCounter::UpstreamRqTimeout);
  const bool is_first = status_ == 0;
  is_broken_ = !is_first;
  if (traced_) traced_->flag = "UT";
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

// ---- the end ----

void Mirror::leave() {
  sender_ = nullptr;
  is_canceled_ = !request_complete_;
  if (is_canceled_) giveUp();
  restIfOver();
}

void Mirror::giveUp() {
  stopWaiting();
  attempt_.abandon();
}

void Mirror::dropBody() {
  if (!body_.empty()) body_.clear(loop().slabs());
}

void Mirror::abort() {
  stopWaiting();
  attempt_.release();
  dropBody();
  if (cluster_) cluster_->letGo();
}

// Once nobody feeds it and nothing of it is under way, it is as new and may be another one at once.
void Mirror::restIfOver() {
  if (sender_ || names_ || attempt_.isActive()) return;
  if (traced_) endTrace();
  abort();
  Context& context = *std::exchange(context_, nullptr);
  cluster_ = nullptr;
  head_.clear();
  trailers_.clear();
  bytes_ = {};
  deadline_ = net::kNever;
  request_end_us_ = 0;
  status_ = 0;
  has_body_ = request_complete_ = is_upgrade_ = is_websocket_ = speaks_http2_ = is_grpc_ =
      awaits_grpc_status_ = false;
  is_canceled_ = is_broken_ = has_broken_head_ = false;
  wanted_.reset();
  context.mirrors.give(*this, context.loop());
}

}  // namespace fairlead::proxy
