// One HTTP/1 connection to a host: writes requests one after another, reads their answers. Owned by
// its callbacks; the worker's thread.
#pragma once

#include <memory>
#include <string>

#include "http/codec.h"
#include "http/codec_settings.h"
#include "http/counted_bytes.h"
#include "http/http1/chunk_decoder.h"
#include "http/http1/framing.h"
#include "http/http1/scanner.h"
#include "http/http1/serializer.h"
#include "net/connection.h"

namespace fairlead::http1 {

class ClientConnection final : public http::ClientCodec,
                               private http::ClientStream,
                               private http::RawSource,
                               private net::ConnectionHandler,
                               private net::Timer {
 public:
  // `scratch` is the worker's: the head that is being parsed.
  ClientConnection(net::Connection& connection, const http::ClientSettings& settings,
                   net::OutBatch& batch, http::ResponseHead& scratch,
                   http::ClientCodecCallbacks& callbacks);
  // The connection is there already; nobody is told so.
  void beginSession();
  ~ClientConnection() override;

  // http::ClientCodec
  uint32_t freeStreams() const override { return state_ == State::Idle ? 1 : 0; }
  http::ClientStream& newStream(http::ResponseSink& sink) override;
  bool isActive() const override { return sink_ != nullptr; }
  bool isMultiplexed() const override { return false; }
  void drain() override;
  void abort(http::ClientCodecCallbacks::CloseReason reason) override;
  net::Connection& connection() override { return connection_; }
  std::string_view protocol() const override { return "HTTP/1.1"; }

 private:
  enum class State : uint8_t { Connecting, Idle, Head, Body, Raw, Closed };
  using CloseReason = http::ClientCodecCallbacks::CloseReason;
  using StreamEnd = http::ClientCodecCallbacks::StreamEnd;
  using Failure = http::ClientCodecCallbacks::Failure;

  // http::ClientStream
  void sendHead(const http::RequestOut& head, bool end) override;
  void sendData(std::string_view data, bool end) override;
  void sendTrailers(http::HeaderMap* trailers) override;
  void flush() override;
  void reset() override;
  bool isOverHighWatermark() const override { return connection_.isOverHighWatermark(); }
  void pauseReading() override { connection_.pauseReading(); }
  void resumeReading() override { connection_.resumeReading(); }
  http::RawSource* rawSource() override { return connection_.transport() ? nullptr : this; }
  size_t waitingMemory() const override { return connection_.pendingMemory(); }

  // http::RawSource
  int fd() const override { return connection_.fd(); }
  uint64_t remainingBytes() const override;
  void begin() override { taken_raw_ = true; }
  void onTaken(size_t bytes) override;
  void markUnreadable() override { connection_.markUnreadable(); }
  void fail() override { onPeerEnd(); }

  // net::ConnectionHandler
  void onReady(int error) override;
  void onReadable() override;
  void onBelowLowWatermark() override;
  void onDrained() override;
  void onWriteFailed() override;
  void prefetch() const override;
  // net::Timer
  void onTimer() override;

  bool isOpen() const { return state_ != State::Closed; }
  void becomeIdle();
  void connectFailed(Failure failure, int error);
  bool isWorthScanning(size_t bytes_before) const;
  void consume(char* data, size_t size);
  size_t consumeHead(char* data, size_t size);
  bool opensTunnel(const http::ResponseHead& head) const;
  void noteConnectionHeaders(const http::ResponseHead& head);
  void collectNames(std::string_view bytes);
  void finishNames(const http::ResponseHead& head);
  void countHead(const http::ResponseHead& head);
  size_t consumeBody(char* data, size_t size);
  size_t consumeChunks(char* data, size_t size);
  size_t consumeTrailers(char* data, size_t size);
  void answerComplete();
  void onPeerEnd();
  void protocolError();
  void fail(http::ResetReason reason, std::string_view details, CloseReason why);
  void watch(net::Millis deadline);
  void countBytes();

  net::Connection& connection_;  // Open until state_ is Closed; gone with the turn of that.
  const http::ClientSettings& settings_;
  net::OutBatch& batch_;
  http::ResponseHead& scratch_;
  http::ClientCodecCallbacks& callbacks_;
  http::ResponseSink* sink_ = nullptr;
  // The sink's; null when there is none.
  http::ByteMeter* meter_ = nullptr;
  std::unique_ptr<std::string> leftover_;
  // Of the latest answer; null: nobody asks for them.
  std::unique_ptr<http::KeptNames> names_;
  net::Millis deadline_ = net::kNever;
  // max_duration_ms: no request is sent from here on.
  net::Millis duration_end_ = net::kNever;
  uint64_t body_remaining_ = 0;
  http::CountedBytes counted_;
  // Of leftover_, when it was last scanned.
  uint32_t scanned_bytes_ = 0;
  uint32_t requests_ = 0;
  ChunkDecoder chunks_;
  State state_ = State::Connecting;
  OutBody out_body_ = OutBody::None;
  BodyFraming::Kind framing_ = BodyFraming::Kind::None;
  AnsweredMethod method_ = AnsweredMethod::Other;
  bool in_trailers_ : 1 = false;
  bool keep_alive_ : 1 = true;
  bool close_notified_ : 1 = false;
  bool excess_ : 1 = false;  // Bytes came after the end of the answer.
  bool request_done_ : 1 = false;
  bool taken_raw_ : 1 = false;
  bool is_draining_ : 1 = false;
  bool in_names_ : 1 = false;  // Of a head that has not come whole.
};

}  // namespace fairlead::http1
