#include "proxy/downstream.h"

#include <algorithm>

#include "log/log.h"
#include "net/heavy_streams.h"
#include "proxy/stream.h"

namespace fairlead::proxy {

using Counter = stats::Http::Counter;
using Gauge = stats::Http::Gauge;
using Histogram = stats::Http::Histogram;
using Http2Counter = stats::Http2Codec::Counter;

namespace {

// By chance up to so many 10,000ths.
net::Millis jitterOf(net::Millis duration, uint32_t ten_thousandths, uint64_t random) {
  return ten_thousandths == 0 ? 0 : random % (duration * ten_thousandths / 10'000 + 1);
}

}  // namespace

Downstream::Downstream(HttpServer& server, net::AcceptedSocket& socket,
                       net::ConnectionAccounts& accounts)
    : DownstreamConnection(accounts, socket), server_(server) {
  stats::Shard<stats::Http>& stats = server.stats();
  stats.add(Counter::DownstreamCxTotal);
  stats.up(Gauge::DownstreamCxActive);
  if (!server.config().isTls()) return;
  stats.add(Counter::DownstreamCxSslTotal);
  stats.up(Gauge::DownstreamCxSslActive);
}

bool Downstream::start(net::FileDescriptor fd) {
  net::Loop& loop = server_.context().loop();
  const HttpConfig& config = server_.config();
  if (config.plan.max_connection_duration_ms > 0) watchLifetime();
  auto* connection = new net::Connection(
      loop, std::move(fd), config.buffer_limit_bytes, net::Connection::Start::Established,
      makeTransport(config.transport, {.worker = server_.context().upstream.worker,
                                       .overload = &server_.overload(),
                                       .owner = this}));
  connection->limitSlowness(config.slow_timeout_ms);
  if (config.transport) {
    setTls(connection->tls());
    codec_ = std::make_unique<Handshake>(*this, *connection);
  } else {
    speak(*connection, protocolOf(*connection));
  }
  if (connection->start()) return true;
  abort();
  return false;
}

http::Protocol Downstream::protocolOf(net::Connection& connection) const {
  using Codec = plan::HttpConnectionManager::Codec;
  switch (server_.config().plan.codec) {
    case Codec::Http1:
      return http::Protocol::Http1;
    case Codec::Http2:
      return http::Protocol::Http2;
    case Codec::Auto:
      break;
  }
  const net::SharedTlsInfo tls = connection.tls();
  return tls && tls->protocol() == "h2" ? http::Protocol::Http2 : http::Protocol::Http1;
}

void Downstream::speak(net::Connection& connection, http::Protocol protocol) {
  is_http2_ = protocol == http::Protocol::Http2;
  codec_ = http::makeServerCodec(protocol, connection, server_.config().codec,
                                 server_.context().upstream.scratch, *this);
  onDrain();
}

void Downstream::Handshake::onReady(int error) {
  if (error == 0) {
    downstream_.onHandshakeOver();
  } else {
    end(true);
  }
}

void Downstream::Handshake::end(bool by_peer) {
  if (!connection_.isOpen()) return;
  connection_.close();
  downstream_.onConnectionClosed(by_peer);
}

void Downstream::onHandshakeOver() {
  noteHandshake();
  auto* handshake = static_cast<Handshake*>(codec_.release());
  speak(handshake->connection(), protocolOf(handshake->connection()));
  // Its last call is under way.
  server_.context().loop().bury(std::unique_ptr<net::Mortal>(handshake));
}

void Downstream::abort() { codec_->abort(); }

void Downstream::watchLifetime() {
  const plan::HttpConnectionManager& plan = server_.config().plan;
  net::Millis duration = server_.overload().scaled(net::Overload::TimerType::ConnectionMax,
                                                   plan.max_connection_duration_ms);
  duration += jitterOf(duration, plan.max_connection_duration_jitter,
                       server_.context().upstream.random.next());
  server_.context().loop().timers().arm(&rare().lifetime, startedAtMicros() / 1000 + duration);
}

void Downstream::onMaxDuration() {
  log::debug(log::Component::Http, log::Tags{.connection = id()},
             "max connection duration reached");
  server_.stats().add(Counter::DownstreamCxMaxDurationReached);
  if (received_ == 0) {
    ending_ = Ending::MaxDuration;
    codec_->finish();
  } else if (draining_) {
    return;
  } else if (!is_http2_ && server_.config().plan.safe_max_connection_duration) {
    // Its next answer is its last, and as long as none comes it stays.
    draining_ = true;
    server_.stats().up(Gauge::DownstreamCxHttp1SoftDrain);
    is_soft_ = true;
  } else {
    startDraining();
  }
}

bool Downstream::isAtRequestLimit() const {
  const uint32_t limit = server_.config().plan.max_requests_per_connection;
  return limit > 0 && requests_ >= limit;
}

void Downstream::startDraining() {
  draining_ = true;
  const plan::HttpConnectionManager& plan = server_.config().plan;
  codec_->endAfter(plan.drain_timeout_ms + jitterOf(plan.drain_timeout_ms,
                                                    plan.drain_timeout_jitter,
                                                    server_.context().upstream.random.next()));
}

// HTTP/1 can say so with an answer only.
void Downstream::onDrain() {
  if (!is_http2_ || draining_) return;
  Context& context = server_.context();
  const net::Millis at = server_.config().drain->toldAt(context.upstream.random);
  if (at == net::kNever) return;
  context.loop().timers().arm(&rare().drain_notice, at);
}

void Downstream::onDrainNotice() {
  // It may have been taken back.
  if (draining_ || !server_.config().drain->isDraining()) return;
  server_.stats().add(Counter::DownstreamCxDrainClose);
  startDraining();
}

void Downstream::addStreams(net::HeavyStreams* into) {
  struct Holders final : http::ServerCodec::Holders {
    Holders(Downstream& of, net::HeavyStreams& all) : downstream(of), streams(all) {}
    void add(uint32_t stream, size_t bytes) override { streams.add(downstream, stream, bytes); }

    Downstream& downstream;
    net::HeavyStreams& streams;
  };
  Holders holders(*this, *into);
  codec_->tellHolders(&holders);
}

bool Downstream::shedStream(uint32_t stream) {
  if (is_closed_) return false;
  const http::ServerCodec::Shed shed = codec_->shedStream(stream);
  // The request itself was over before.
  if (shed == http::ServerCodec::Shed::Left) {
    server_.stats().add(Counter::DownstreamRqRxReset);
  }
  return shed != http::ServerCodec::Shed::Gone;
}

bool Downstream::isQuiet() const {
  // Most clients that will ask again do so at once: who has been told to leave will not.
  constexpr net::Millis kThinkMs = 100;
  return codec_->isIdleFor(draining_ ? 0 : kThinkMs);
}

http::RequestSink* Downstream::newStream(http::ServerStream& client, Opening opening) {
  ++requests_;
  if (is_http2_ && isAtRequestLimit()) {
    server_.stats().add(Counter::DownstreamCxMaxRequestsReached);
    if (!draining_) startDraining();
  }
  is_broken_ = opening == Opening::Malformed;
  Stream* stream = server_.context().streams.take();
  stream->start(*this, client);
  return stream;
}

// As the real server, which asks for each read: be it the first, with what it does to the next
// request, or in the midst of a body.
http::ServerCodecCallbacks::Dispatch Downstream::onDispatch() {
  using Subject = net::Overload::Subject;
  const net::Overload& overload = server_.overload();
  Random& random = server_.context().upstream.random;
  if (received_ == 0 && overload.sheds(Subject::PointCreateCodec, random)) {
    is_unheard_ = true;
    server_.stats().add(Counter::DownstreamRqOverloadClose);
    shedConnection("onData codec creation overload");
    return Dispatch::Drop;
  }
  if (overload.sheds(Subject::PointHttp2GoAwayAndClose, random)) {
    shedConnection("Load shed point http2_server_go_away_and_close_on_dispatch triggered");
    return Dispatch::GoAway;
  }
  if (overload.sheds(Subject::PointHttp2GoAway, random) && !draining_) startDraining();
  return Dispatch::Go;
}

bool Downstream::shedsDispatch() {
  if (!server_.overload().sheds(net::Overload::Subject::PointHttp1Abort,
                                server_.context().upstream.random)) {
    return false;
  }
  shedConnection("Aborting Server Dispatch");
  return true;
}

void Downstream::shedConnection(std::string_view why) {
  log::debug(log::Component::Http, log::Tags{.connection = id()}, "dispatch error: ", why);
  is_shed_ = true;
  setEndedBy("overload_error:", why);
}

void Downstream::onHttp2(net::Connection& connection, std::string_view bytes) {
  std::unique_ptr<net::Mortal> http1 = std::move(codec_);
  if (received_ > 0) {
    // Its first bytes alone did not tell.
    server_.stats().down(Gauge::DownstreamCxHttp1Active);
    countProtocol(http::Protocol::Http2);
  }
  speak(connection, http::Protocol::Http2);
  // Its last call is under way.
  server_.context().loop().bury(std::move(http1));
  codec_->takeFirst(bytes);
}

void Downstream::onProtocolError(http::Breach breach, std::string_view details) {
  log::debug(log::Component::Http, log::Tags{.connection = id()}, "dispatch error: ", details);
  // Floods have counters of their own.
  if (breach != http::Breach::Flood) server_.stats().add(Counter::DownstreamCxProtocolError);
}

void Downstream::onBroken(std::string_view why) {
  is_broken_ = true;
  setEndedBy("codec_error:", why);
}

void Downstream::setEndedBy(std::string_view kind, std::string_view why) {
  ending_ = Ending::Told;
  std::string text(kind);
  text += why;
  std::replace(text.begin(), text.end(), ' ', '_');
  setClosedBy(std::move(text));
}

// From here on no time is too long for it.
void Downstream::onEnding(std::string_view why) {
  if (rare_) rare_->lifetime.disarm();
  if (!why.empty()) {
    ending_ = Ending::Told;
    setClosedBy(std::string(why));
  } else if (ending_ == Ending::None) {
    ending_ = Ending::Drained;
  }
}

// As the real server has it: half of all, once there were so many; or before that as many as would
// be half of them.
void Downstream::onRequestEnded(uint64_t lifetime_us, bool is_answered) {
  if (is_closed_) return;
  const HttpConfig& config = server_.config();
  const uint32_t ended = ++rare().ended;
  if (is_answered || lifetime_us / 1'000'000 > config.premature_reset_s.value()) return;
  const uint64_t premature = ++rare().premature;
  const uint64_t limit = config.premature_resets.value();
  const uint64_t of = ended < limit ? limit : ended;
  if (premature * 2 < of) return;
  log::debug(log::Component::Http, log::Tags{.connection = id()}, "too many premature resets");
  server_.stats().add(Counter::DownstreamRqTooManyPrematureResets);
  is_closed_ = true;
  codec_->abort();
}

void Downstream::countActiveRequests(bool by_peer) {
  if (has_lost_requests_) return;
  has_lost_requests_ = true;
  stats::Shard<stats::Http>& stats = server_.stats();
  stats.add(Counter::DownstreamCxDestroyActiveRq);
  stats.add(by_peer ? Counter::DownstreamCxDestroyRemoteActiveRq
                    : Counter::DownstreamCxDestroyLocalActiveRq);
}

void Downstream::onIdleTimeout() {
  log::debug(log::Component::Http, log::Tags{.connection = id()}, "idle timeout");
  server_.stats().add(Counter::DownstreamCxIdleTimeout);
  if (requests_ == 0 && !(is_http2_ && received_ > 0)) {
    ending_ = Ending::Idle;
    codec_->finish();
    return;
  }
  // As the real server: a client that has just decided to ask again still gets an answer.
  startDraining();
}

void Downstream::onDelayedCloseTimeout() {
  ending_ = Ending::Late;
  server_.stats().add(Counter::DownstreamCxDelayedCloseTimeout);
}

void Downstream::onBytes(uint64_t received, uint64_t sent) {
  const uint64_t new_received = received - std::exchange(received_, received);
  const uint64_t new_sent = sent - std::exchange(sent_, sent);
  stats::Shard<stats::Http>& stats = server_.stats();
  if (received > 0 && !is_broken_ && !is_shed_) has_spoken_ = true;
  if (new_received > 0 && new_received == received && !is_unheard_) {
    // What a connection speaks is known from its first byte on.
    countProtocol(is_http2_ ? http::Protocol::Http2 : http::Protocol::Http1);
  }
  if (new_received > 0) {
    stats.add(Counter::DownstreamCxRxBytesTotal, new_received);
    // As the real server has it: the latest read counts as buffered until the next.
    stats.up(Gauge::DownstreamCxRxBytesBuffered, new_received);
    stats.down(Gauge::DownstreamCxRxBytesBuffered, shown_as_buffered_);
    shown_as_buffered_ = static_cast<uint32_t>(new_received);
  }
  if (new_sent > 0) stats.add(Counter::DownstreamCxTxBytesTotal, new_sent);
}

void Downstream::countProtocol(http::Protocol protocol) {
  stats::Shard<stats::Http>& stats = server_.stats();
  if (protocol == http::Protocol::Http1) {
    stats.add(Counter::DownstreamCxHttp1Total);
    stats.up(Gauge::DownstreamCxHttp1Active);
    return;
  }
  stats.add(Counter::DownstreamCxHttp2Total);
  stats.up(Gauge::DownstreamCxHttp2Active);
  const bool counts_as_other = server_.config().plan.http2->counts_as_oghttp2;
  server_.http2Stats().add(counts_as_other ? Http2Counter::Oghttp2DownstreamConnections
                                           : Http2Counter::Nghttp2DownstreamConnections);
}

void Downstream::describe(format::FormatContext* context) const {
  if (has_spoken_) context->protocol = is_http2_ ? "HTTP/2" : "HTTP/1.1";
  if (is_broken_) context->flags.set(format::ResponseFlag::DownstreamProtocolError);
  if (is_shed_) context->flags.set(format::ResponseFlag::OverloadManager);
  if (const std::string_view ending = endingText(); !ending.empty()) {
    context->downstream_close_reason = ending;
  }
  context->bytes_received = received_;
  context->bytes_sent = sent_;
  context->filter_chain_name = server_.config().filter_chain_name;
  using Source = plan::FormatPiece::MetadataSource;
  context->setMetadata(Source::Listener, server_.config().listener_metadata.get());
  context->setMetadata(Source::FilterChain, server_.config().chain_metadata.get());
}

std::string_view Downstream::endingText() const {
  switch (ending_) {
    case Ending::Idle:
      return "on_idle_timeout";
    case Ending::MaxDuration:
      return "duration_timeout";
    case Ending::Drained:
      return "deferred_close_on_drained_connection";
    case Ending::Late:
      return "triggered_delayed_close_timeout";
    case Ending::None:
    case Ending::Told:
      break;
  }
  // As whoever ends it has said.
  return {};
}

void Downstream::onConnectionClosed(bool by_peer) {
  // Whoever ended it from here says why.
  by_peer = by_peer && termination().empty();
  log::debug(log::Component::Connection, log::Tags{.connection = id()},
             by_peer ? "remote close" : "closing socket");
  is_closed_ = true;
  stats::Shard<stats::Http>& stats = server_.stats();
  stats.add(Counter::DownstreamCxDestroy);
  stats.add(by_peer ? Counter::DownstreamCxDestroyRemote : Counter::DownstreamCxDestroyLocal);
  stats.down(Gauge::DownstreamCxActive);
  if (is_soft_) stats.down(Gauge::DownstreamCxHttp1SoftDrain);
  if (server_.config().isTls()) stats.down(Gauge::DownstreamCxSslActive);
  stats.down(Gauge::DownstreamCxRxBytesBuffered, shown_as_buffered_);
  if (received_ > 0 && !is_unheard_) {
    stats.down(is_http2_ ? Gauge::DownstreamCxHttp2Active : Gauge::DownstreamCxHttp1Active);
  }
  stats.record(Histogram::DownstreamCxLengthMs,
               (net::Loop::readClockMicros() - startedAtMicros()) / 1000);
  rare_.reset();
  leaveListener();
  server_.context().loop().bury(std::unique_ptr<Mortal>(this));
}

std::shared_ptr<void>& Downstream::kept(uint64_t number) {
  auto& kept = rare().kept;
  for (auto& [of, what] : kept) {
    if (of == number) return what;
  }
  return kept.emplace_back(number, nullptr).second;
}

}  // namespace fairlead::proxy
