// One client's HTTP/1 connection: reads requests one after another, writes their answers.
// Owns itself: closes when either side ends it, and is freed with the turn. The worker's thread.
//
// Always holds: at most one request is active (stream_ != null) at a time; bytes of later requests
// stay unread in the socket, or in leftover_ when one read brought them along. A request that is
// answered before it is read whole is the connection's last.
#pragma once

#include <memory>
#include <string>

#include "http/codec.h"
#include "http/http1/chunk_decoder.h"
#include "http/http1/framing.h"
#include "http/http1/scanner.h"
#include "http/http1/serializer.h"
#include "net/connection.h"

namespace fairlead::http1 {

struct ServerSettings {
  HeadLimits limits = {};
  FramingRules framing = {};
  bool accept_http_10 = false;
  bool enable_trailers = false;
  // A broken message costs its stream only (stream_error_on_invalid_http_message).
  bool keep_open_on_error = false;
  net::Millis delayed_close_ms = 1000;  // 0: closes at once.
  net::Millis idle_timeout_ms = 0;
  // From the first byte of a head to its last; 0: none.
  net::Millis head_timeout_ms = 0;
};

class ServerConnection;

// Who owns the meaning of a connection's requests: proxy::Downstream. Lives as long as the
// connection, and ends in onConnectionClosed().
class ServerCallbacks {
 public:
  // A request's head is complete; never null. The sink is told of nothing before this returns.
  virtual http::RequestSink* newStream(http::ServerStream& stream) = 0;
  // What the client sent is not HTTP, or too much of it: counted and answered by the callee, whose
  // answer ends the connection.
  virtual void onCodecError(const ScanError& error) = 0;
  virtual void onHeadTimeout() = 0;
  // The connection ends within a request's head.
  virtual void onHeadReset(http::ResetReason reason, std::string_view details) = 0;
  virtual void onIdleTimeout() = 0;
  virtual void onDelayedCloseTimeout() = 0;
  virtual void onBytes(size_t received, size_t sent) = 0;
  // `by_peer`: the client ended it.
  virtual void onConnectionClosed(bool by_peer) = 0;

 protected:
  ~ServerCallbacks() = default;
};

class ServerConnection final : public net::Connection,
                               public http::ServerStream,
                               private net::Timer,
                               private net::Deferred {
 public:
  // `scratch` is the worker's: the head that is being parsed.
  ServerConnection(net::Loop& loop, net::FileDescriptor fd, uint32_t buffer_limit_bytes,
                   const ServerSettings& settings, net::OutBatch& batch, http::RequestHead& scratch,
                   ServerCallbacks& callbacks);

  // Registers with the loop. False: the kernel refuses; the connection is closed.
  bool start();
  // Ends after so long; a request that is under way then is still answered.
  void endAfter(net::Millis ms);
  // What came is no request: `sink` answers in place of one.
  void answerThrough(http::RequestSink& sink) { stream_ = &sink; }
  // Of the exchange that is under way, from its first byte.
  const http::ByteMeter& meter() const { return meter_; }
  bool hasActiveStream() const { return stream_ != nullptr; }
  // Between two requests for so long at least, with nothing of the next one here. Asks the kernel.
  bool isIdleFor(net::Millis ms) const;

  // Ends the connection now. The callbacks hear onConnectionClosed(false).
  void abort(CloseKind kind = CloseKind::Fin);
  // Waits for what is written to leave and for the client to go, at most the delayed close timeout.
  enum class Linger : uint8_t { Delayed, None };
  void finish(Linger linger);

  // http::ServerStream
  void sendInformational(uint16_t status, http::HeaderMap* headers) override;
  void sendHead(const http::ResponseOut& head, bool end) override;
  void sendData(std::string_view data, bool end) override;
  void sendTrailers(http::HeaderMap* trailers) override;
  void flush() override;
  void reset(bool linger) override;
  bool isOverHighWatermark() const override { return Connection::isOverHighWatermark(); }
  void pauseReading() override { Connection::pauseReading(); }
  void resumeReading() override;
  int spliceFd() override { return out_body_ == OutBody::Length ? fd() : -1; }
  void onSpliced(size_t bytes, bool end) override;
  bool canWriteNow() const override { return isWritable(); }
  void markUnwritable() override { Connection::markUnwritable(); }

 private:
  enum class State : uint8_t {
    Head,       // Between requests, or inside a head.
    Body,       // The head was told; its body is being read.
    Complete,   // The request is complete; its answer is not.
    Raw,        // After an upgrade: bytes are bytes.
    Lingering,  // The last answer is written; what comes is thrown away.
    Closed,
  };

  // net::Connection
  bool onFirstEvent(uint32_t events) override;
  void onReadable() override;
  void onBelowLowWatermark() override;
  void onDrained() override;
  void onWriteFailed() override;
  void onWritable() override;
  // net::Timer
  void onTimer() override;
  // net::Deferred
  void onDeferred() override { onReadable(); }

  bool mustWaitForClient() const;
  bool isWorthScanning(size_t bytes_before) const;
  void consumeLeftover();
  void consume(char* data, size_t size, std::unique_ptr<std::string> owner);
  size_t consumeHead(char* data, size_t size);
  size_t consumeBody(char* data, size_t size);
  size_t consumeChunks(char* data, size_t size);
  size_t consumeTrailers(char* data, size_t size);
  size_t waitForHead(const char* data, size_t size);
  void keep(const char* data, size_t size, std::unique_ptr<std::string> owner);
  void onPeerEnd();
  void answerComplete();
  void finishExchange();
  void closed(bool by_peer, CloseKind kind);
  void resetStream(http::ResetReason reason, std::string_view details);
  void watch(net::Millis deadline);
  void countBytes();

  const ServerSettings& settings_;
  net::OutBatch& batch_;
  http::RequestHead& scratch_;
  ServerCallbacks& callbacks_;
  http::RequestSink* stream_ = nullptr;
  // What was read and not used yet: part of a head, or what follows the request that is answered.
  std::unique_ptr<std::string> leftover_;
  // Of leftover_, that were found to be no whole head (or trailers); 0: they were not looked at.
  uint32_t scanned_bytes_ = 0;
  // idle, head or linger deadline, by state; kNever: none.
  net::Millis deadline_ = net::kNever;
  // When the latest exchange was over.
  net::Millis idle_since_ = 0;
  // Of endAfter().
  net::Millis end_ = net::kNever;
  uint64_t body_remaining_ = 0;
  uint64_t counted_read_ = 0;
  uint64_t counted_written_ = 0;
  http::ByteMeter meter_;
  ChunkDecoder chunks_;
  State state_ = State::Head;
  OutBody out_body_ = OutBody::None;
  bool in_head_ = false;  // A part of a head has come.
  bool chunked_ = false;
  bool in_trailers_ = false;
  bool close_after_ = false;
  bool consuming_ = false;
  bool linger_delayed_ = false;
};

}  // namespace fairlead::http1
