#include "proxy/stream.h"

#include "base/text.h"
#include "format/grpc_status.h"
#include "http/breach_text.h"
#include "log/log.h"
#include "proxy/downstream.h"
#include "proxy/head_checks.h"
#include "proxy/request_headers.h"

namespace fairlead::proxy {

using filters::LocalReply;
using http::HeaderEntry;
using http::HeaderId;
using http::HeaderMap;
using Counter = stats::Http::Counter;
using Flag = format::ResponseFlag;
using Gauge = stats::Http::Gauge;

StreamPool::StreamPool() : resting_(kMaxResting) {}

StreamPool::~StreamPool() = default;

Stream* StreamPool::take() { return resting_.take(); }

void StreamPool::give(Stream* stream, net::Loop& loop) { resting_.give(stream, loop); }

void StreamPool::trim() { resting_.trim(); }

void Stream::start(Downstream& downstream, http::ServerStream& client) {
  info_.server = &downstream.server();
  info_.downstream = downstream_ = &downstream;
  info_.start_us = loop().nowMicros();
  client_ = &client;
  become(State::Opened);
  stats().add(Counter::DownstreamRqTotal);
  info_.is_http2 = downstream.isHttp2();
  stats().add(info_.is_http2 ? Counter::DownstreamRqHttp2Total : Counter::DownstreamRqHttp1Total);
  log::debug(log::Component::Http, log::Tags{.connection = downstream.id()}, "new stream");
}

void Stream::become(State next) {
  FL_DCHECK(next > state_ || next == State::Resting);
  // Neither is the request complete twice, nor does an answer begin twice.
  FL_DCHECK(next != State::AnsweringEarly || state_ != State::Waiting);
  if (state_ == State::Resting) stats().up(Gauge::DownstreamRqActive);
  if (next == State::Resting) stats().down(Gauge::DownstreamRqActive);
  state_ = next;
}

// ---- the head ----

void Stream::onRequestHead(http::RequestHead& head, bool end) {
  context().arena.reset();
  info_.id = context().upstream.random.next();
  info_.is_http_10 = head.version == http::Version::Http10;
  if (!head.protocol.empty()) adoptProtocol(head);
  info_.is_head = head.method == "HEAD";
  info_.is_connect = head.method == "CONNECT";
  info_.is_upgrade = head.upgrades;
  const HeaderEntry* type = head.headers.find(HeaderId::ContentType);
  info_.is_grpc = type && format::isGrpcContentType(type->value());
  become(State::Receiving);
  beginDeadlines(end);
  log::debug(log::Component::Http, info_.tags(), "request headers complete (end_stream=", end,
             "): ", head.method, " ", head.path, " ", head.authority);
  info_.live_head = &head;
  if (!head.scheme.empty()) info_.scheme = keepScheme(head.scheme);
  if (head.names) info_.touchUncommon().request_names = head.names;
  if (end) requestComplete();
  const bool may_be_shed = info_.server->overload().isActive();
  if (!(may_be_shed && isRequestShed()) && checkHead(head)) findRoute(head);
  const bool is_known = info_.live_head != nullptr;
  info_.live_head = nullptr;
  if (state_ != State::Resting && is_known) keepHead(head);
}

bool Stream::isRequestShed() {
  using Subject = net::Overload::Subject;
  const net::Overload& overload = info_.server->overload();
  Random& random = context().upstream.random;
  if (!overload.sheds(Subject::PointDecodeHeaders, random) &&
      !overload.takes(Subject::StopAcceptingRequests, random)) {
    return false;
  }
  stats().add(Counter::DownstreamRqOverloadClose);
  LocalReply reply{503, "envoy overloaded", "overload"};
  reply.is_local_overload = config().plan.append_local_overload;
  answer(reply);
  return true;
}

// What is said of the request after this is said of what routing made of its head.
void Stream::keepHead(const http::RequestHead& head) {
  const route::MutationChain* mutations = info_.mutations();
  const bool answer_speaks_of_it = (mutations && mutations->changesResponse()) ||
                                   (filtered_ && chain_->notes().keeps_request_head);
  const bool is_traced = info_.trace && info_.trace->isSampled();
  if (!config().logs_request_head && !answer_speaks_of_it && !is_traced) return;
  info_.touchUncommon().request.save(head.method, head.path, head.authority, head.headers);
}

// False: it was answered.
bool Stream::checkHead(http::RequestHead& head) {
  if (!acceptUnderscores(head.headers, *info_.server, info_.is_http2)) {
    if (info_.is_http2) {
      refuseStream("http2.unexpected_underscore");
    } else {
      breakHead("http1.unexpected_underscore");
    }
    return false;
  }
  const HeaderEntry* const connection = head.headers.find(HeaderId::Connection);
  if (connection && !info_.is_http2) {
    const Nomination nominated = nominates(connection->value());
    if (nominated == Nomination::Forbidden) {
      breakHead("http1.connection_header_rejected");
      return false;
    }
    if (nominated == Nomination::Host) head.authority = {};
  }
  if (const std::optional<LocalReply> refusal = refuseHead(head, *info_.server)) {
    answer(*refusal);
    return false;
  }
  HeaderEntry* expect = head.headers.find(HeaderId::Expect);
  if (expect && !config().plan.proxy_100_continue &&
      equalsIgnoreCase(expect->value(), "100-continue")) {
    info_.status = 100;
    countStatus(100);
    client_->sendInformational(100, nullptr);
    if (!client_) return false;
    expect->remove();
  }
  return true;
}

// As if the codec had found it: nothing is said of the head.
void Stream::breakHead(std::string_view details) {
  info_.live_head = nullptr;
  // Which has not come to its end by then.
  if (isRequestComplete()) countUnreadRest();
  downstream_->onBroken(http::breachText(details));
  onRequestBroken(400, details);
}

// As if the codec had not taken its head.
void Stream::refuseStream(std::string_view details) {
  http::ServerStream* const client = std::exchange(client_, nullptr);
  info_.live_head = nullptr;
  info_.request_end_us = 0;
  // As if the codec had not: nobody has counted it.
  info_.downstream_bytes.wire_received = info_.downstream_bytes.header_received = 0;
  info_.flags.set(Flag::DownstreamRemoteReset);
  info_.details = details;
  stats().add(Counter::DownstreamRqRxReset);
  end();
  client->reset();
}

// ---- where it goes ----

namespace {

std::string_view withoutPort(std::string_view authority) {
  const size_t colon = authority.rfind(':');
  if (colon == std::string_view::npos || authority.find(']', colon) != std::string_view::npos) {
    return authority;
  }
  return authority.substr(0, colon);
}

// The port that was taken; 0: none.
uint16_t stripPort(http::RequestHead& head, const plan::HttpConnectionManager& plan,
                   uint16_t listener_port) {
  const std::string_view host = withoutPort(head.authority);
  uint64_t port = 0;
  const bool strips =
      host.size() < head.authority.size() &&
      parseDecimal(head.authority.substr(host.size() + 1), &port) &&
      (plan.strip_any_host_port || (plan.strip_matching_host_port && port == listener_port));
  if (strips) head.authority = host;
  if (plan.strip_trailing_host_dot && head.authority.ends_with('.')) {
    head.authority.remove_suffix(1);
  }
  return strips ? static_cast<uint16_t>(port) : 0;
}

void removeInternal(HeaderMap& headers, const std::vector<format::HeaderName>& names) {
  for (const format::HeaderName& name : names) {
    for (HeaderEntry& entry : headers) {
      if (!name.isPseudo() && name.names(entry)) entry.remove();
    }
  }
}

}  // namespace

void Stream::findRoute(http::RequestHead& head) {
  const HttpConfig& config = this->config();
  if (!config.early_changes.empty()) changeEarly(head);
  const uint16_t port = stripPort(head, config.plan, downstream_->local().port());
  if (head.method == "CONNECT") info_.connect_port = port;
  RequestFacts facts =
      prepareRequestHeaders(head, config, *downstream_, info_.viewOf(head), context());
  if (facts.refusal != 0) {
    stats().add(Counter::DownstreamRqRejectedViaIpDetection);
    answer({facts.refusal, {}, "rejecting_because_detection_failed"});
    return;
  }
  if (!head.scheme.empty() && config.plan.scheme_overwrite.empty()) facts.scheme = info_.scheme;
  info_.client_address = facts.client;
  info_.lacks_scheme = facts.lacks_scheme;
  info_.is_internal = facts.internal;
  info_.scheme = facts.scheme;
  if (config.plan.always_set_request_id_in_response || facts.is_traced) {
    request_id_ = facts.request_id;
  }
  follow(head);
}

// What comes next, of a head that is as it is to be.
void Stream::follow(http::RequestHead& head) {
  const HttpConfig& config = this->config();
  const route::RequestView view = info_.viewOf(head);
  pinTable(view);
  if (info_.table && !info_.is_internal && !info_.table->internalHeaders().empty()) {
    removeInternal(head.headers, info_.table->internalHeaders());
  }
  findRouteOf(head, view);
  if (config.plan.logs_new_requests) {
    nameCluster(view);
    logAccess(format::LogType::DownstreamStart);
  }
  if (info_.tunnels() && !grantTunnel(head, view)) return;
  if (config.tracing) beginTrace(head);
  if (!config.filters.empty() && filterHead(head, view)) return;
  // Without a router nothing answers: the stream waits for a timeout.
  if (config.plan.router) router_.onHead(head, view, isRequestComplete());
}

void Stream::pinTable(const route::RequestView& view) {
  info_.table = context().routes.pin(config().routes.id());
  info_.missing_table = nullptr;
  if (!info_.table || !info_.table->scopes()) return;
  const route::RouteScopes::Scope* const scope = info_.table->scopes()->find(view);
  route::TablePin table = scope ? context().routes.pin(scope->table.id()) : route::TablePin();
  // Read in this turn, in which the scopes stay.
  if (scope && scope->on_demand && !table) info_.missing_table = &scope->table.name();
  info_.table = std::move(table);
}

// Of a head that a filter has made another request of.
void Stream::findRouteAgain(http::RequestHead& head) {
  const route::RequestView view = info_.viewOf(head);
  const HeaderEntry* const proto = head.headers.find(HeaderId::XForwardedProto);
  info_.lacks_scheme = !proto || proto->value().empty();
  findRouteOf(head, view);
  nameCluster(view);
}

void Stream::renewRoute(http::RequestHead& head) {
  route::TablePin& older = info_.touchUncommon().older_table;
  if (!older) older = std::move(info_.table);
  pinTable(info_.viewOf(head));
  findRouteAgain(head);
}

void Stream::findRouteOf(http::RequestHead& head, const route::RequestView& view) {
  format::Exchange* const noted = info_.exchange();
  if (!noted) return lookForRoute(head, view);
  const uint64_t begun_us = net::Loop::readClockMicros();
  lookForRoute(head, view);
  noted->route_us += net::Loop::readClockMicros() - begun_us;
  ++noted->routes;
}

void Stream::lookForRoute(http::RequestHead& head, const route::RequestView& view) {
  info_.route = nullptr;
  info_.virtual_host = info_.table ? info_.table->findHost(view) : nullptr;
  if (!info_.virtual_host || info_.lacks_scheme || requiresTls(view)) return;
  info_.route = info_.table->findRoute(*info_.virtual_host, view);
  applyRouteDeadlines(head.headers);
}

void Stream::changeEarly(http::RequestHead& head) {
  format::FormatContext format;
  info_.fill(&format);
  config().early_changes.apply(head.headers, format, context().arena);
}

// Of a head that says it, which does not stay.
std::string_view Stream::keepScheme(std::string_view scheme) {
  if (equalsIgnoreCase(scheme, "http")) return "http";
  if (equalsIgnoreCase(scheme, "https")) return "https";
  std::string& lower = info_.touchUncommon().odd_scheme;
  lower.clear();
  for (const char c : scheme) lower.push_back(lowerAscii(c));
  return lower;
}

bool Stream::requiresTls(const route::RequestView& view) const {
  using RequireTls = plan::VirtualHost::RequireTls;
  const RequireTls required = info_.virtual_host->plan.require_tls;
  if (required == RequireTls::None || info_.lacks_scheme) return false;
  // Whatever the request says of its scheme.
  const HeaderEntry* const forwarded = view.headers->find(HeaderId::XForwardedProto);
  if (forwarded && forwarded->value() == "https") return false;
  return required == RequireTls::All || !info_.is_internal;
}

void Stream::onForwarded(const http::RequestHead& head) {
  if (filtered_) chain_->onRequestForwarded(head);
}

// ---- the body ----

void Stream::onRequestData(std::string_view data, bool end) {
  info_.bytes_received += data.size();
  touch();
  if (end) requestComplete();
  if (filtered_) {
    chain_->onRequestData(data, end);
    return;
  }
  router_.onData(data, end);
}

void Stream::onRequestTrailers(HeaderMap& trailers) {
  requestComplete();
  if (filtered_) {
    chain_->onRequestTrailers(trailers);
    return;
  }
  router_.onTrailers(trailers);
}

void Stream::requestComplete() {
  become(hasAnswerBegun() ? State::Answering : State::Waiting);
  request_deadline_ = net::kNever;
  info_.request_end_us = info_.request_forwarded_us = loop().nowMicros();
}

void Stream::pauseReading() {
  if (!client_ || read_pauses_++ > 0) return;
  stats().add(Counter::DownstreamFlowControlPausedReadingTotal);
  client_->pauseReading();
}

void Stream::resumeReading() {
  if (!client_ || --read_pauses_ > 0) return;
  stats().add(Counter::DownstreamFlowControlResumedReadingTotal);
  client_->resumeReading();
}

// ---- what goes wrong with it ----

void Stream::onRequestBroken(uint16_t status, std::string_view details) {
  stats().add(Counter::DownstreamCxProtocolError);
  if (!hasAnswerBegun()) {
    answer(
        {status, http::reasonPhrase(status), details, Flag::DownstreamProtocolError, false, true});
    return;
  }
  onUpstreamBroken(Flag::DownstreamProtocolError, details);
}

void Stream::onRequestShed() {
  stats().add(Counter::DownstreamRqOverloadClose);
  if (!hasAnswerBegun()) {
    answer({500, http::reasonPhrase(500), "overload", Flag::DownstreamProtocolError, false, true});
    return;
  }
  onUpstreamBroken(Flag::OverloadManager, "overload_error:Aborting_Server_Dispatch");
}

// Which of its limits the head has come to, which begins what they are for.
void Stream::onRequestHeadTimeout() {
  const plan::HttpConnectionManager& plan = config().plan;
  const net::Millis reached = config().codec.head_timeout_ms;
  if (plan.request_headers_timeout_ms == reached) {
    stats().add(Counter::DownstreamRqHeaderTimeout);
    answer({408, "request header timeout", "request_header_timeout", std::nullopt, false, true});
  } else if (plan.max_stream_duration_ms == reached) {
    answer(tooLong(Limit::Duration));
  } else {
    answer(tooLong(plan.request_timeout_ms == reached ? Limit::Request : Limit::Idle));
  }
}

void Stream::onRequestReset(http::ResetReason reason, std::string_view details) {
  client_ = nullptr;
  log::debug(log::Component::Http, info_.tags(), "stream reset: ", details);
  info_.details = details;
  stats().add(Counter::DownstreamRqRxReset);
  using Reason = http::ResetReason;
  switch (reason) {
    case Reason::ConnectionTermination:
      info_.flags.set(Flag::DownstreamConnectionTermination);
      downstream_->countActiveRequests(true);
      break;
    case Reason::LocalReset:
      downstream_->countActiveRequests(false);
      break;
    case Reason::ProtocolError:
      info_.flags.set(Flag::DownstreamProtocolError);
      if (downstream_->isBroken()) downstream_->countActiveRequests(false);
      break;
    case Reason::Overload:
      info_.flags.set(Flag::OverloadManager);
      break;
    case Reason::RemoteReset:
      // Without a word: the client gave it up without an error.
      if (!details.empty()) info_.flags.set(Flag::DownstreamRemoteReset);
      break;
    // As the real server has it, whoever ended the stream.
    case Reason::RemoteRefused:
    case Reason::ConnectError:
    case Reason::TooLarge:
      info_.flags.set(Flag::DownstreamRemoteReset);
      break;
  }
  end();
}

}  // namespace fairlead::proxy
