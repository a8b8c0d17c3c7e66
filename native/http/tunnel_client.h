// A connection to a host that is one tunnel: a CONNECT that ends here, or another request whose
// body goes on bare. No HTTP is spoken on it. That it is there is the answer, 200; then its bytes
// are the body, until its host ends it. Owned by its callbacks; the worker's thread.
#pragma once

#include "http/codec.h"
#include "http/codec_scratch.h"
#include "http/codec_settings.h"
#include "http/counted_bytes.h"
#include "net/connection.h"

namespace fairlead::http {

class TunnelClient final : public ClientCodec,
                           private ClientStream,
                           private net::ConnectionHandler,
                           private net::Timer,
                           private net::Deferred {
 public:
  TunnelClient(net::Connection& connection, const ClientSettings& settings,
               const CodecScratch& scratch, ClientCodecCallbacks& callbacks);
  ~TunnelClient() override;

  // ClientCodec
  uint32_t freeStreams() const override { return state_ == State::Idle ? 1 : 0; }
  ClientStream& newStream(ResponseSink& sink) override;
  bool isActive() const override { return sink_ != nullptr; }
  bool isMultiplexed() const override { return false; }
  // It ends with its tunnel in any case.
  void drain() override {
    if (state_ == State::Idle) abort(CloseReason::Local);
  }
  void abort(ClientCodecCallbacks::CloseReason reason) override;
  net::Connection& connection() override { return connection_; }
  std::string_view protocol() const override { return {}; }

 private:
  // Draining: nobody is told anything any more, but the host has not taken all bytes yet.
  enum class State : uint8_t { Connecting, Idle, Asked, Open, Draining, Closed };
  using CloseReason = ClientCodecCallbacks::CloseReason;
  using Failure = ClientCodecCallbacks::Failure;

  // ClientStream
  void sendHead(const RequestOut& head, bool end) override;
  void sendData(std::string_view data, bool end) override;
  // There is no place for any.
  void sendTrailers(HeaderMap*) override { sendData({}, true); }
  void flush() override;
  void reset() override;
  bool isOverHighWatermark() const override { return connection_.isOverHighWatermark(); }
  void pauseReading() override { connection_.pauseReading(); }
  void resumeReading() override { connection_.resumeReading(); }
  RawSource* rawSource() override { return nullptr; }
  size_t waitingMemory() const override { return connection_.pendingMemory(); }

  // net::ConnectionHandler
  void onReady(int error) override;
  void onReadable() override;
  void onBelowLowWatermark() override;
  void onDrained() override;
  void onWriteFailed() override { fail(); }
  // net::Timer
  void onTimer() override;
  // net::Deferred
  void onDeferred() override;

  void connectFailed(Failure failure, int error);
  void onEnd();
  void complete();
  void beginDraining();
  void fail();
  void countBytes();

  net::Connection& connection_;  // Open until state_ is Closed; gone with the turn of that.
  const ClientSettings& settings_;
  const CodecScratch& scratch_;
  ClientCodecCallbacks& callbacks_;
  ResponseSink* sink_ = nullptr;
  CountedBytes counted_;
  State state_ = State::Connecting;
  bool request_done_ = false;
  // The host's end leaves the other half as it is.
  bool outlasts_answer_ = false;
  bool answer_done_ = false;
  // Draining: what was left when it was looked at last.
  size_t left_bytes_ = 0;
  bool left_stream_ = false;
};

}  // namespace fairlead::http
