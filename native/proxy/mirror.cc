#include "proxy/mirror.h"

#include <utility>

#include "http/header_syntax.h"
#include "log/log.h"
#include "proxy/destination.h"
#include "proxy/downstream.h"
#include "proxy/extended_connect.h"
#include "proxy/mirror_tries.h"
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

Mirror::Mirror() : attempt_(*this, bytes_) {}

Mirror::~Mirror() = default;

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
  config_ = info.server->configPin();
  cluster_ = &cluster;
  cluster_->hold();
  may_be_broken_ = may_be_broken || !policy.changes.empty();
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
  head_.save(head.method, head.path, host, isTraced() ? context_->headers : headers);
  beginTries(info);
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
    startTry(*pool);
  } else {
    refuse("UH");
  }
}

void Mirror::refuse(std::string_view flag) {
  if (isTraced()) traced_->flag = flag;
  charge(503);
}

void Mirror::onAttemptReady(upstream::Attempt& attempt, upstream::PooledConnection& connection) {
  onTryReady(attempt, connection);
  sendKept();
}

void Mirror::onTryReady(upstream::Attempt& attempt, upstream::PooledConnection& connection) {
  if (isTraced()) traceAsked(attempt.host());
  tellOutlier(attempt.host(), upstream::OutlierResult::Connected);
  speaks_http2_ = connection.codec().protocol() == "HTTP/2";
  if (has_tries_) noteConnection(connection);
}

void Mirror::restoreHead(HeaderMap& headers) {
  head_.restore(&headers);
  // As if this proxy's own: it is asked for by nobody else.
  headers.set(HeaderId::XEnvoyInternal, "true");
  if (HeaderEntry* const forwarded = headers.find(HeaderId::XForwardedFor)) {
    forwarded->setValue(context_->arena.join(forwarded->value(), ",", local_address_));
  } else if (!local_address_.empty()) {
    headers.add(HeaderId::XForwardedFor, "x-forwarded-for", local_address_);
  }
}

bool Mirror::sendHead(http::ClientStream& to, std::string_view method, std::string_view path,
                      std::string_view authority, HeaderMap& headers, bool end) {
  if (may_be_broken_ && http::brokenHeader(method, path, authority, headers)) {
    if (isTraced()) traced_->flag = "DPE";
    endWith(503);
    return false;
  }
  http::RequestOut out{method, path, authority, &headers, scheme_};
  out.upgrades = is_upgrade_;
  if (is_upgrade_ && speaks_http2_) {
    sendExtendedConnect(to, out, end);
  } else {
    to.sendHead(out, end);
  }
  return true;
}

void Mirror::sendKept() {
  http::ClientStream& to = *attempt_.stream();
  HeaderMap& headers = context_->headers;
  restoreHead(headers);
  if (!sendHead(to, head_.method(), head_.path(), head_.authority(), headers, !has_body_)) return;
  if (TryLogs* const logs = tryLogs()) logs->onSent(attempt_, body_.size());
  body_.forEachPiece([&to](std::string_view piece) { to.sendData(piece, false); });
  if (has_body_ && request_complete_ && !trailers_.isSet()) to.sendData({}, true);
  if (trailers_.isSet()) {
    trailers_.restore(&headers);
    to.sendTrailers(&headers);
  }
  // Before what is sent is cleared.
  to.flush();
  dropBody();
  holdUpNoLonger();
}

void Mirror::onData(std::string_view data, bool end) {
  if (end) requestComplete();
  if (!names_ && passesFilters()) {
    if (!attempt_.isActive()) return;
    tries_->filters.onData(data, end);
    if (http::ClientStream* const to = attempt_.stream()) to->flush();
  } else if (http::ClientStream* const to = attempt_.stream()) {
    if (TryLogs* const logs = tryLogs()) logs->onSent(attempt_, data.size());
    to->sendData(data, end);
    if (!end) to->flush();
  } else if (isWaiting()) {
    body_.append(loop().slabs(), data);
  }
}

void Mirror::onTrailers(HeaderMap& trailers) {
  requestComplete();
  if (!names_ && passesFilters()) {
    if (!attempt_.isActive()) return;
    // They may change them, which are the request's as well, unless they were kept until now.
    HeaderMap& own = context_->tried.headers;
    if (&own != &trailers) own.assign(trailers);
    tries_->filters.onTrailers(own);
    if (http::ClientStream* const to = attempt_.stream()) to->flush();
  } else if (http::ClientStream* const to = attempt_.stream()) {
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
  loop().timers().armBy(this, deadline_);
}

bool Mirror::isBehind() const {
  if (has_tries_ && areTriesBehind()) return true;
  if (isWaiting()) return body_.size() > buffer_limit_bytes_;
  return attempt_.stream() && attempt_.stream()->isOverHighWatermark();
}

void Mirror::onAttemptWritable(upstream::Attempt&) {
  if (!isBehind()) holdUpNoLonger();
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
  if (passesFilters()) tries_->filters.drop();
  if (TryLogs* const logs = tryLogs()) logs->endAll();
  attempt_.abandon();
}

void Mirror::endWith(uint16_t status) {
  if (status_ == 0) status_ = status;
  giveUp();
  dropBody();
  holdUpNoLonger();
  restIfOver();
}

void Mirror::dropBody() {
  if (!body_.empty()) body_.clear(loop().slabs());
}

void Mirror::abort() {
  Deferred::unlink();
  stopWaiting();
  if (has_tries_) endTries();
  attempt_.release();
  dropBody();
  if (cluster_) cluster_->letGo();
  config_.reset();
}

// Once nobody feeds it and nothing of it is under way, it is as new and may be another one at once.
void Mirror::restIfOver(bool is_alone) {
  if (!context_ || sender_ || names_ || attempt_.isActive()) return;
  if (has_tries_ && !is_alone) return loop().defer(this);
  if (isTraced()) endTrace();
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
  is_canceled_ = is_broken_ = may_be_broken_ = is_canary_ = false;
  wanted_.reset();
  context.mirrors.give(*this, context.loop());
}

}  // namespace fairlead::proxy
