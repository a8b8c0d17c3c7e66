#include "base/text.h"
#include "log/log.h"
#include "proxy/downstream.h"
#include "proxy/stream.h"

namespace fairlead::proxy {

using http::HeaderEntry;
using http::HeaderId;
using http::HeaderMap;
using Counter = stats::Http::Counter;
using ClusterCounter = stats::Cluster::Counter;
using ClusterHistogram = stats::Cluster::Histogram;
using ServerHeader = plan::HttpConnectionManager::ServerHeader;

namespace {

// Fewer bytes than this are copied: a pipe costs more.
constexpr uint64_t kWorthSplicingBytes = 64 * 1024;

void removeHopByHop(HeaderMap& headers) {
  for (HeaderEntry& entry : headers) {
    switch (entry.id) {
      case HeaderId::Connection:
      case HeaderId::KeepAlive:
      case HeaderId::ProxyConnection:
      case HeaderId::TransferEncoding:
      case HeaderId::Upgrade:
        entry.remove();
        break;
      default:
        break;
    }
  }
}

}  // namespace

// ---- from the host ----

void Stream::onInformational(http::ResponseHead& head) {
  touch();
  if (!isHealthCheck()) countUpstream(head.status, &head.headers);
  if (!client_ || response_started_ || http_10_) return;
  if (!config().plan.proxy_100_continue) return;
  removeHopByHop(head.headers);
  countStatus(head.status);
  client_->sendInformational(head.status, &head.headers);
}

void Stream::onResponseHead(http::ResponseHead& head, bool end) {
  Arena& arena = context().arena;
  arena.reset();
  if (end) upstream_ = nullptr;
  touch();
  response_begin_us_ = now();
  log::debug(log::Component::Router, tags(), "upstream headers complete: end_stream=", end,
             " status=", head.status);
  details_ = "via_upstream";
  HeaderMap& headers = head.headers;
  status_ = head.status;
  chargeUpstream(head.status, &headers);
  removeHopByHop(headers);
  // The host's time runs from the end of the request on.
  if (!config().router.suppress_envoy_headers && request_end_us_ > 0) {
    headers.set(HeaderId::XEnvoyUpstreamServiceTime,
                arena.decimal((now() - request_end_us_) / 1000));
  }
  mutateResponse(headers);
  if (virtual_host_->plan.include_attempt_count_in_response) {
    headers.set(HeaderId::XEnvoyAttemptCount, "1");
  }
  if (end) upstreamComplete();
  sendResponseHead(head.status, headers, end, false);
}

void Stream::onResponseData(std::string_view data, bool end) {
  touch();
  bytes_sent_ += data.size();
  if (filtered_) chain_->onResponseData(data, end);
  if (!end) {
    if (client_) client_->sendData(data, false);
    return;
  }
  upstream_ = nullptr;
  upstreamComplete();
  sendResponseEnd(data);
}

void Stream::onResponseTrailers(HeaderMap& trailers) {
  if (filtered_) chain_->onResponseTrailers(trailers);
  upstream_ = nullptr;
  upstreamComplete();
  if (client_) {
    client_->sendTrailers(&trailers);
  } else {
    onAnswerComplete();
  }
}

void Stream::onResponseReadEnd() {
  if (!client_ || !upstream_) return;
  client_->flush();
  if (beginSplice() || upstream_paused_ || !client_->isOverHighWatermark()) return;
  upstream_paused_ = true;
  cluster_->stats().add(ClusterCounter::UpstreamFlowControlPausedReadingTotal);
  upstream_->pauseReading();
}

void Stream::onDownstreamWritable() {
  touch();
  if (splice_) {
    // The upstream's socket is not read inside of the client's handler.
    loop().defer(this);
    return;
  }
  if (!upstream_paused_ || !upstream_ || client_->isOverHighWatermark()) return;
  upstream_paused_ = false;
  cluster_->stats().add(ClusterCounter::UpstreamFlowControlResumedReadingTotal);
  upstream_->resumeReading();
}

void Stream::onResponseReset(http::ResetReason reason, std::string_view details) {
  upstream_ = nullptr;
  splice_.reset();
  host_->counters(context().upstream.worker).rq_error.add();
  const bool nonsense = reason == http::ResetReason::ProtocolError;
  const Flag flag = nonsense ? Flag::UpstreamProtocolError : Flag::UpstreamConnectionTermination;
  const std::string_view words = nonsense ? "protocol error" : "connection termination";
  if (!response_started_) {
    failUpstream({static_cast<uint16_t>(nonsense ? 502 : 503), {}, {}, flag}, words);
    return;
  }
  flags_.set(flag);
  details_ = "upstream_reset_after_response_started{";
  details_.append(words).append("}");
  resetDownstream();
}

void Stream::chargeUpstream(uint16_t status, const HeaderMap* headers) {
  if (!cluster_) return;
  if (!isHealthCheck()) countUpstream(status, headers);
  if (!headers || !host_) return;
  upstream::HostCounters& host = host_->counters(context().upstream.worker);
  if (status >= 500) {
    host.rq_error.add();
  } else {
    host.rq_success.add();
  }
}

void Stream::countUpstream(uint16_t status, const HeaderMap* headers) {
  stats::Shard<stats::Cluster>& stats = cluster_->stats();
  stats.add(ClusterCounter::UpstreamRqCompleted);
  stats.countResponse(stats::CodeVariant::All, status);
  stats.countResponse(internal_ ? stats::CodeVariant::Internal : stats::CodeVariant::External,
                      status);
  if (!headers || !host_) return;
  const HeaderEntry* canary = headers->find(HeaderId::XEnvoyUpstreamCanary);
  if ((canary && canary->value() == "true") || host_->settings().canary) {
    stats.countResponse(stats::CodeVariant::Canary, status);
  }
}

// The host's answer is whole.
void Stream::upstreamComplete() {
  route_deadline_ = upstream_deadline_ = net::kNever;
  if (isHealthCheck() || request_end_us_ == 0) return;
  const uint64_t ms = (now() - request_end_us_) / 1000;
  stats::Shard<stats::Cluster>& stats = cluster_->stats();
  stats.record(ClusterHistogram::UpstreamRqTime, ms);
  stats.record(internal_ ? ClusterHistogram::InternalUpstreamRqTime
                         : ClusterHistogram::ExternalUpstreamRqTime,
               ms);
}

// The request is no longer wanted upstream, wherever it is.
void Stream::abandonUpstream() {
  route_deadline_ = upstream_deadline_ = net::kNever;
  splice_.reset();
  if (upstream::HttpPool* pool = std::exchange(waiting_pool_, nullptr)) pool->cancel(*this);
  if (http::ClientStream* upstream = std::exchange(upstream_, nullptr)) {
    upstream->reset();
  }
}

// ---- to the client ----

void Stream::mutateResponse(HeaderMap& headers) {
  if (!route_) return;
  const route::MutationChain& chain = mutations();
  if (!chain.changesResponse()) return;
  format::FormatContext format;
  fillFormatContext(&format);
  format.response_headers = &headers;
  chain.applyToResponse(headers, format, context().arena);
  headers.remove(HeaderId::TransferEncoding);  // The codec's.
}

void Stream::finishResponseHeaders(HeaderMap& headers) {
  const plan::HttpConnectionManager& plan = config().plan;
  if (!headers.find(HeaderId::Date)) {
    headers.add(HeaderId::Date, "date", context().clock.date());
  }
  switch (plan.server_header) {
    case ServerHeader::Overwrite:
      headers.set(HeaderId::Server, plan.server_name);
      break;
    case ServerHeader::AppendIfAbsent:
      if (!headers.find(HeaderId::Server))
        headers.add(HeaderId::Server, "server", plan.server_name);
      break;
    case ServerHeader::PassThrough:
      break;
  }
  if (!request_id_.empty()) {
    headers.set(HeaderId::XRequestId, request_id_);
  }
  if (!plan.via.empty()) {
    if (HeaderEntry* via = headers.find(HeaderId::Via)) {
      via->setValue(context().arena.join(via->value(), ", ", plan.via));
    } else {
      headers.add(HeaderId::Via, "via", plan.via);
    }
  }
}

bool Stream::mustEndConnection(bool local) {
  if (!downstream_->isDraining() &&
      config().drain->shouldClose(loop().now(), context().upstream.random)) {
    server_->stats().add(Counter::DownstreamCxDrainClose);
    downstream_->startDraining();
  }
  // A CONNECT that is refused ends in its middle.
  if (!request_complete_ || (local && connect_request_)) {
    server_->stats().add(Counter::DownstreamRqResponseBeforeRqComplete);
    // What is still to come of the request is not wanted.
    server_->stats().add(Counter::DownstreamRqRxReset);
  }
  if (close_after_reply_ || !request_complete_) return true;
  if (client_->endsConnection() || !downstream_->isAtRequestLimit()) return false;
  server_->stats().add(Counter::DownstreamCxMaxRequestsReached);
  return true;
}

void Stream::sendResponseHead(uint16_t status, HeaderMap& headers, bool end, bool local) {
  if (filtered_) chain_->onResponseHead(status, headers, end, context().arena);
  finishResponseHeaders(headers);
  http::ResponseOut out{status, &headers, mustEndConnection(local)};
  client_->finishHead(out, end);
  countResponse(status);
  log::debug(log::Component::Http, tags(), "encoding headers via codec (end_stream=", end,
             "): status ", status);
  response_started_ = true;
  if (filtered_) chain_->onResponseSent(status, headers);
  if (config().logs_response_head) response_.save({}, {}, {}, headers);
  client_->sendHead(out, end);
}

void Stream::sendResponseEnd(std::string_view data) {
  if (client_) {
    client_->sendData(data, true);
  } else {
    onAnswerComplete();
  }
}

void Stream::resetDownstream() {
  stats::Shard<stats::Http>& stats = server_->stats();
  stats.add(Counter::DownstreamRqTxReset);
  stats.add(Counter::DownstreamRqRxReset);
  http::ServerStream* client = client_;
  finish();
  release();
  if (client) client->reset();
}

// ---- past user space ----

bool Stream::beginSplice() {
  if (splice_) return true;
  if (filtered_ && chain_->notes().sees_response_body) return false;
  http::RawSource* const source = upstream_->rawSource();
  http::RawSink* const sink = client_->rawSink();
  if (!source || !sink || !sink->canWriteNow()) return false;
  const uint64_t left = source->remainingBytes();
  if (left < kWorthSplicingBytes) return false;
  auto splice = std::make_unique<net::Splice>(context().upstream.pipes);
  if (!splice->valid()) return false;
  splice_ = std::move(splice);
  splice_left_ = left;
  source->begin();
  return true;
}

void Stream::pumpSplice() {
  if (!splice_ || !client_) return;
  using Stop = net::Splice::Stop;
  http::RawSource* const source = upstream_ ? upstream_->rawSource() : nullptr;
  http::RawSink* const sink = client_->rawSink();
  const net::Splice::Moved moved =
      splice_->move(source ? source->fd() : -1, sink->fd(), splice_left_);
  splice_left_ -= moved.taken;
  bytes_sent_ += moved.written;
  if (moved.taken + moved.written > 0) touch();
  sink->onGiven(moved.written, false);
  if (splice_left_ == 0 && source) {
    upstream_ = nullptr;
    upstreamComplete();
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
