// A stream's way back: answers of hosts, and of the proxy itself.
#include "base/prefetch.h"
#include "base/text.h"
#include "format/grpc_message.h"
#include "log/log.h"
#include "proxy/downstream.h"
#include "proxy/proxy_status.h"
#include "proxy/stream.h"

namespace fairlead::proxy {

using http::HeaderEntry;
using http::HeaderId;
using http::HeaderMap;
using Counter = stats::Http::Counter;
using ServerHeader = plan::HttpConnectionManager::ServerHeader;

namespace {

// `is_switching`: the headers say to which protocol.
void removeHopByHop(HeaderMap& headers, bool is_switching) {
  if (!headers.mayHave(http::kConnectionHeaders)) return;
  for (HeaderEntry& entry : headers) {
    const bool says = entry.id == HeaderId::Connection || entry.id == HeaderId::Upgrade;
    if (is_switching && says) continue;
    if (http::kConnectionHeaders.has(entry.id)) entry.remove();
  }
}

bool hasLostTunnel(const StreamInfo& info) {
  return info.tunnels() && (info.flags.has(format::ResponseFlag::UpstreamConnectionFailure) ||
                            info.flags.has(format::ResponseFlag::UpstreamConnectionTermination));
}

// Of another answer, but for what frames it.
void takeHeaders(HeaderMap& to, const HeaderMap& from) {
  for (const HeaderEntry& entry : from) {
    switch (entry.id) {
      case HeaderId::Connection:
      case HeaderId::ContentLength:
      case HeaderId::TransferEncoding:
      case HeaderId::Upgrade:
        break;
      default:
        if (entry.name_size > 0) to.add(entry.id, entry.name(), entry.value());
    }
  }
}

// Bytes behind the head of another answer would be taken for the next one's (RFC 9112 §6.3).
bool mayHaveBody(uint16_t status) { return status >= 200 && status != 204 && status != 304; }

constexpr std::string_view kText = "text/plain";

// What a connection of HTTP/1 and its codec take, which are made one after the other.
constexpr size_t kClientBytes = 448;

}  // namespace

// ---- of a host ----

// With thousands of streams all of this is in memory alone when its answer comes, and was awaited
// line by line.
void Stream::prefetch(http::ResponseSink::Ahead ahead) const {
  if (ahead == http::ResponseSink::Ahead::Read) {
    fairlead::prefetch(this, sizeof(Stream));
    return;
  }
  fairlead::prefetch(downstream_, sizeof(Downstream));
  fairlead::prefetch(client_, kClientBytes);
}

void Stream::onUpstreamInformational(http::ResponseHead& head) {
  touch();
  if (!client_ || hasAnswerBegun() || info_.is_http_10) return;
  if (!config().plan.proxy_100_continue) return;
  removeHopByHop(head.headers, false);
  if (!request_id_.empty()) head.headers.set(HeaderId::XRequestId, request_id_);
  info_.status = head.status;
  countStatus(head.status);
  client_->sendInformational(head.status, &head.headers);
}

void Stream::onUpstreamHead(http::ResponseHead& head, bool end) {
  touch();
  info_.response_begin_us = loop().nowMicros();
  info_.details = "via_upstream";
  info_.status = head.status;
  HeaderMap& headers = head.headers;
  removeHopByHop(headers, isSwitching(head.status, headers));
  // The host's time runs from the end of the request on.
  if (!config().router.suppress_envoy_headers && info_.request_forwarded_us > 0) {
    const uint64_t ms = (info_.response_begin_us - info_.request_forwarded_us) / 1000;
    headers.set(HeaderId::XEnvoyUpstreamServiceTime, context().arena.decimal(ms));
  }
  mutate(headers, head.status);
  tellAttempts(headers);
  if (redirects_ && redirects_->memo && info_.is_head && !end) [[unlikely]] {
    // It was asked by GET, in another one's place.
    router_.abandon();
    end = true;
  }
  sendHead(head.status, headers, end, Source::Host);
}

void Stream::onUpstreamData(std::string_view data, bool end) {
  if (filtered_) {
    const uint32_t life = chain_->life();
    chain_->onResponseData(data, end);
    // A filter may keep the end, and the host's codec tells of no read's end behind it.
    if (end && life == chain_->life()) flushAnswer();
    return;
  }
  writeData(data, end);
}

void Stream::onUpstreamTrailers(HeaderMap& trailers) {
  if (filtered_) {
    const uint32_t life = chain_->life();
    chain_->onResponseTrailers(trailers);
    if (life == chain_->life()) flushAnswer();
    return;
  }
  writeTrailers(trailers);
}

void Stream::onUpstreamBroken(format::ResponseFlag flag, std::string_view details) {
  info_.flags.set(flag);
  info_.details = details;
  resetClient();
}

http::RawSink* Stream::rawSink() {
  const bool is_seen = filtered_ && chain_->notes().sees_response_body;
  return client_ && !is_seen ? client_->rawSink() : nullptr;
}

void Stream::onUpstreamMoved(uint64_t written, bool is_progress) {
  info_.bytes_sent += written;
  if (is_progress) touch();
}

void Stream::onDownstreamWritable() {
  touch();
  askForMore();
}

// ---- of a filter, in a host's place ----

void Stream::serveHead(const filters::AnswerHead& head, bool end) {
  touch();
  context().arena.reset();
  if (head.flag) info_.flags.set(*head.flag);
  info_.details = head.details;
  info_.status = head.status;
  removeHopByHop(head.headers, false);
  sendHead(head.status, head.headers, end, Source::Host);
}

// ---- of the proxy itself ----

void Stream::answer(const filters::LocalReply& reply, bool is_of_route) {
  router_.abandon();
  ++replies_;
  // Also a request that was refused before it came to the filters is answered through them.
  if (!config().filters.empty()) {
    if (!filtered_) startFilters(nullptr);
    if (filtered_) chain_->dropRequest();
  }
  HeaderMap& headers = context().headers;
  Arena& arena = context().arena;
  headers.clear();
  log::debug(log::Component::Http, info_.tags(), "Sending local reply with details ",
             reply.details);
  // As the real server: mappers are not told that the codec found the request wrong.
  const bool is_of_codec = reply.flag == format::ResponseFlag::DownstreamProtocolError;
  if (reply.flag && !is_of_codec) info_.flags.set(*reply.flag);
  info_.details = reply.details;
  if (client_ && hasLostTunnel(info_)) client_->failTunnel();
  uint16_t status = reply.status;
  std::string_view body = reply.body;
  const bool grpc = info_.is_grpc && !reply.is_bare;
  if (reply.headers) takeHeaders(headers, *reply.headers);
  if (reply.editor) [[unlikely]]
    reply.editor->edit(headers, arena);
  if (reply.degraded) headers.set(HeaderId::XEnvoyDegraded, "");
  if (reply.overloaded && !config().router.suppress_envoy_headers) {
    headers.set(HeaderId::XEnvoyOverloaded, "true");
  }
  if (reply.is_local_overload) {
    static const std::string& name = *new std::string(http::ownHeader("local-overloaded"));
    headers.add(HeaderId::Other, name, "true");
  }
  if (reply.is_of_router) tellAttempts(headers);
  if (!reply.location.empty()) headers.add(HeaderId::Location, "location", reply.location);
  // As the real server has it, routes speak of the answer before it has a status.
  if (!hasAnswerBegun()) info_.status = 0;
  // As the real server: what a route adds that forwards nothing, it adds to its own answer alone.
  const bool forwards = !info_.route || info_.route->cluster;
  if (!reply.is_bare && (is_of_route || forwards)) mutate(headers, status);
  // Of gRPC, too, until it is sent. Of a filter's own words filters are not told.
  info_.status = reply.is_bare ? 0 : status;
  LocalReplies::Reply rewritten{status, {}};
  const LocalReplies* const replies = reply.is_bare ? nullptr : config().local_replies.get();
  // In place of what its headers say it is.
  bool is_type_forced = false;
  if (replies) [[unlikely]] {
    rewritten.body = body;
    const HeaderEntry* const before = headers.find(HeaderId::ContentType);
    const std::string type(before ? before->value() : std::string_view());
    rewrite(*replies, headers, &rewritten);
    const bool is_json = rewritten.content_type == "application/json";
    const HeaderEntry* const after = headers.find(HeaderId::ContentType);
    // A mapper has said what it is.
    if (after && after->value() != type) {
      rewritten.content_type = kText;
    } else {
      is_type_forced = after && rewritten.body != body;
    }
    // The end of its line is none of a message.
    if (grpc && is_json && rewritten.body.ends_with('\n')) rewritten.body.pop_back();
    status = rewritten.status;
    body = rewritten.body;
    info_.status = status;
  }
  if (is_of_codec) info_.flags.set(*reply.flag);
  // How this answer is framed is nobody else's to say.
  headers.remove(HeaderId::ContentLength);
  if (grpc) {
    headers.set(HeaderId::ContentType, "application/grpc");
    headers.add(
        HeaderId::GrpcStatus, "grpc-status",
        reply.grpc_status ? arena.decimal(*reply.grpc_status) : filters::grpcStatusOf(status));
    if (!body.empty() && !info_.is_head) {
      headers.add(HeaderId::GrpcMessage, "grpc-message", arena.copy(format::percentEncoded(body)));
    }
    status = 200;
    body = {};
  } else if (body.empty()) {
    headers.remove(HeaderId::ContentType);
  } else if (!mayHaveBody(status)) {
    body = {};
  } else {
    headers.add(HeaderId::ContentLength, "content-length", arena.decimal(body.size()));
    const std::string_view type = replies                      ? rewritten.content_type
                                  : reply.content_type.empty() ? kText
                                                               : reply.content_type;
    if (is_type_forced || type != kText || !headers.find(HeaderId::ContentType)) {
      headers.set(HeaderId::ContentType, arena.copy(type));
    }
  }
  // As the real server: that a request is bad says that the two ends may not agree on what follows.
  const bool is_last =
      reply.close || (hasAnswerBegun() && source_ == Source::ProxyLast) ||
      (reply.status == 400 && !info_.is_http2 && !config().plan.keeps_after_invalid);
  const Source source = is_last ? Source::ProxyLast : Source::Proxy;
  if (body.empty() || info_.is_head) {
    sendHead(status, headers, true, source);
    return;
  }
  const uint32_t reply_number = replies_;
  sendHead(status, headers, false, source);
  // Filters may have put another one in its place.
  if (reply_number == replies_) sendBody(body);
}

void Stream::rewrite(const LocalReplies& replies, HeaderMap& headers, LocalReplies::Reply* reply) {
  format::FormatContext format;
  info_.fill(&format);
  format.response_headers = &headers;
  replies.rewrite(format, info_.id, headers, context().arena, reply);
}

void Stream::sendBody(std::string_view body) {
  if (!filtered_) {
    writeData(body, true);
    return;
  }
  const uint32_t life = chain_->life();
  chain_->onResponseData(body, true);
  // A filter may have kept it: its head does not wait with it.
  if (life == chain_->life()) flushAnswer();
}

// ---- either ----

void Stream::mutate(HeaderMap& headers, uint16_t status) {
  const route::MutationChain* mutations = info_.mutations();
  if (!mutations || !mutations->changesResponse()) return;
  format::FormatContext format;
  info_.fill(&format);
  format.response_headers = &headers;
  format.head_status = status;
  mutations->applyToResponse(headers, format, context().arena);
  headers.remove(HeaderId::TransferEncoding);  // The codec's.
  if (!info_.is_upgrade) headers.remove(HeaderId::Connection);
}

void Stream::tellAttempts(HeaderMap& headers) {
  if (info_.attempts == 0 || !info_.virtual_host->plan.include_attempt_count_in_response) return;
  headers.set(HeaderId::XEnvoyAttemptCount, context().arena.decimal(info_.attempts));
}

void Stream::finishHeaders(HeaderMap& headers) {
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

// What the codec has found wrong is no request, and has nothing that could be told of.
void Stream::tellProxyStatus(uint16_t* status, HeaderMap& headers) {
  if (!info_.flags.any() || info_.details.starts_with("http1.")) return;
  if (info_.details == "low_version") return;
  const std::string text =
      proxyStatusOf(*config().plan.proxy_status, info_.flags, info_.details, status);
  if (text.empty()) return;
  Arena& arena = context().arena;
  if (HeaderEntry* const existing = headers.find(HeaderId::ProxyStatus)) {
    existing->setValue(arena.join(existing->value(), ", ", text));
  } else {
    headers.add(HeaderId::ProxyStatus, "proxy-status", arena.copy(text));
  }
}

bool Stream::mustEndConnection(Source source) {
  if (info_.server->overload().isActive() && !downstream_->isDraining() &&
      info_.server->overload().takes(net::Overload::Subject::DisableHttpKeepalive,
                                     context().upstream.random)) {
    stats().add(Counter::DownstreamCxOverloadDisableKeepalive);
    stats().add(Counter::DownstreamCxDrainClose);
    downstream_->startDraining();
  }
  if (!downstream_->isDraining() &&
      config().drain->shouldClose(loop().now(), context().upstream.random)) {
    stats().add(Counter::DownstreamCxDrainClose);
    downstream_->startDraining();
  }
  if (info_.is_http2) {
    if (!isRequestHere()) stats().add(Counter::DownstreamRqResponseBeforeRqComplete);
    const bool is_last = source == Source::ProxyLast && info_.details == "upgrade_failed";
    if (is_last && !downstream_->isDraining()) downstream_->startDraining();
    return false;
  }
  if (!isRequestHere()) stats().add(Counter::DownstreamRqResponseBeforeRqComplete);
  if (!isRequestHere() || source == Source::ProxyLast || downstream_->isSoft()) return true;
  if (client_->endsConnection() || !downstream_->isAtRequestLimit()) return false;
  stats().add(Counter::DownstreamCxMaxRequestsReached);
  return true;
}

void Stream::countUnreadRest() {
  stats().add(Counter::DownstreamRqResponseBeforeRqComplete);
  // What is still to come of the request is not wanted.
  stats().add(Counter::DownstreamRqRxReset);
  info_.request_end_us = 0;
}

void Stream::sendHead(uint16_t status, HeaderMap& headers, bool end, Source source) {
  source_ = source;
  if (!hasAnswerBegun()) {
    become(isRequestComplete() ? State::Answering : State::AnsweringEarly);
    request_deadline_ = net::kNever;
  }
  if (filtered_) {
    chain_->onResponseHead(status, headers, end);
  } else {
    writeHead(status, headers, end);
  }
}

void Stream::writeHead(uint16_t status, HeaderMap& headers, bool end) {
  head_written_ = true;
  info_.mark(format::TimePoint::DownstreamTxBegin);
  finishHeaders(headers);
  if (config().plan.proxy_status) tellProxyStatus(&status, headers);
  if (info_.trace) traceAnswer(headers);
  http::ResponseOut out{status, &headers, mustEndConnection(source_)};
  out.names = info_.responseNames();
  client_->finishHead(out, end);
  info_.status = status;
  if (!info_.is_health_check) countStatus(status);
  log::debug(log::Component::Http, info_.tags(), "encoding headers via codec (end_stream=", end,
             "): status ", status);
  if (filtered_) chain_->onResponseSent(status, headers);
  if (keepsResponseHead()) info_.touchUncommon().response.save({}, {}, {}, headers);
  // What HTTP/1 grants by 101, an extended CONNECT is granted by 200 (RFC 8441 §5).
  if (info_.is_extended_connect && status == 101) {
    out.status = 200;
    headers.remove(HeaderId::Connection);
    headers.remove(HeaderId::Upgrade);
  }
  const bool is_tunnel = config().plan.logs_tunnels && ((info_.is_connect && status == 200) ||
                                                        (info_.is_upgrade && status == 101));
  if (is_tunnel) logAccess(format::LogType::DownstreamTunnelSuccessfullyEstablished);
  client_->sendHead(out, end);
}

void Stream::writeData(std::string_view data, bool end) {
  touch();
  info_.bytes_sent += data.size();
  if (end) {
    sendEnd(data);
  } else if (client_) {
    client_->sendData(data, false);
  }
}

void Stream::writeTrailers(HeaderMap& trailers) {
  if (keepsResponseHead()) info_.touchUncommon().response_trailers.save({}, {}, {}, trailers);
  if (client_) {
    client_->sendTrailers(&trailers);
  } else {
    end();
  }
}

void Stream::sendEnd(std::string_view data) {
  if (client_) {
    client_->sendData(data, true);
  } else {
    end();
  }
}

void Stream::resetClient() {
  stats().add(Counter::DownstreamRqTxReset);
  stats().add(Counter::DownstreamRqRxReset);
  http::ServerStream* client = client_;
  if (client && hasLostTunnel(info_)) client->failTunnel();
  end();
  if (client) client->reset();
}

}  // namespace fairlead::proxy
