#include "proxy/downstream.h"

#include "http/codecs.h"
#include "log/log.h"
#include "proxy/stream.h"

namespace fairlead::proxy {

using Counter = stats::Http::Counter;
using Gauge = stats::Http::Gauge;
using Histogram = stats::Http::Histogram;

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
  if (const uint64_t ms = config.plan.max_connection_duration_ms) {
    lifetime_ = std::make_unique<Lifetime>(*this);
    loop.timers().arm(lifetime_.get(), loop.now() + ms);
  }
  auto* connection = new net::Connection(
      loop, std::move(fd), config.buffer_limit_bytes, net::Connection::Start::Established,
      makeTransport(config.transport, {server_.context().upstream.worker}));
  if (config.transport) {
    setTls(connection->tls());
    codec_ = std::make_unique<Handshake>(*this, *connection);
  } else {
    speak(*connection);
  }
  if (connection->start()) return true;
  abort();
  return false;
}

void Downstream::speak(net::Connection& connection) {
  codec_ = http::makeServerCodec(connection, server_.config().codec,
                                 server_.context().upstream.scratch, *this);
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
  auto* handshake = static_cast<Handshake*>(codec_.release());
  speak(handshake->connection());
  // Its last call is under way.
  server_.context().loop().bury(std::unique_ptr<net::Mortal>(handshake));
}

void Downstream::abort() { codec_->abort(); }

void Downstream::onMaxDuration() {
  log::debug(log::Component::Http, log::Tags{.connection = id()},
             "max connection duration reached");
  server_.stats().add(Counter::DownstreamCxMaxDurationReached);
  if (received_ == 0) {
    codec_->finish();
  } else if (!draining_) {
    startDraining();
  }
}

bool Downstream::isAtRequestLimit() const {
  const uint32_t limit = server_.config().plan.max_requests_per_connection;
  return limit > 0 && requests_ >= limit;
}

void Downstream::startDraining() {
  draining_ = true;
  codec_->endAfter(server_.config().plan.drain_timeout_ms);
}

bool Downstream::isQuiet() const {
  // Most clients that will ask again do so at once: who has been told to leave will not.
  constexpr net::Millis kThinkMs = 100;
  return codec_->isIdleFor(draining_ ? 0 : kThinkMs);
}

http::RequestSink* Downstream::newStream(http::ServerStream& client, Opening opening) {
  ++requests_;
  has_request_ = has_request_ || opening == Opening::Request;
  is_broken_ = opening == Opening::Malformed;
  Stream* stream = server_.context().streams.take();
  stream->start(*this, client);
  return stream;
}

void Downstream::onHttp2() {
  log::debug(log::Component::Http, log::Tags{.connection = id()},
             "the client speaks HTTP/2, which is not supported yet");
  server_.stats().add(Counter::DownstreamCxProtocolError);
  is_broken_ = true;
}

void Downstream::onIdleTimeout() {
  log::debug(log::Component::Http, log::Tags{.connection = id()}, "idle timeout");
  server_.stats().add(Counter::DownstreamCxIdleTimeout);
  if (requests_ == 0) {
    codec_->finish();
    return;
  }
  // As the real server: a client that has just decided to ask again still gets an answer.
  startDraining();
}

void Downstream::onDelayedCloseTimeout() {
  server_.stats().add(Counter::DownstreamCxDelayedCloseTimeout);
}

void Downstream::onBytes(uint64_t received, uint64_t sent) {
  const uint64_t new_received = received - std::exchange(received_, received);
  const uint64_t new_sent = sent - std::exchange(sent_, sent);
  stats::Shard<stats::Http>& stats = server_.stats();
  if (new_received > 0 && new_received == received) {
    // What a connection speaks is known from its first byte on.
    stats.add(Counter::DownstreamCxHttp1Total);
    stats.up(Gauge::DownstreamCxHttp1Active);
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

void Downstream::describe(format::FormatContext* context) const {
  if (has_request_) context->protocol = "HTTP/1.1";
  if (is_broken_) context->flags.set(format::ResponseFlag::DownstreamProtocolError);
  context->bytes_received = received_;
  context->bytes_sent = sent_;
  context->filter_chain_name = server_.config().filter_chain_name;
}

void Downstream::onConnectionClosed(bool by_peer) {
  log::debug(log::Component::Connection, log::Tags{.connection = id()},
             by_peer ? "remote close" : "closing socket");
  stats::Shard<stats::Http>& stats = server_.stats();
  stats.add(Counter::DownstreamCxDestroy);
  stats.add(by_peer ? Counter::DownstreamCxDestroyRemote : Counter::DownstreamCxDestroyLocal);
  stats.down(Gauge::DownstreamCxActive);
  if (server_.config().isTls()) stats.down(Gauge::DownstreamCxSslActive);
  stats.down(Gauge::DownstreamCxRxBytesBuffered, shown_as_buffered_);
  if (received_ > 0) stats.down(Gauge::DownstreamCxHttp1Active);
  stats.record(Histogram::DownstreamCxLengthMs,
               (net::Loop::readClockMicros() - startedAtMicros()) / 1000);
  lifetime_.reset();
  leaveListener();
  server_.context().loop().bury(std::unique_ptr<Mortal>(this));
}

}  // namespace fairlead::proxy
