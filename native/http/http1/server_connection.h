// One client's HTTP/1 connection: reads requests one after another, writes their answers. Owned by
// its callbacks; the worker's thread.
//
// Always holds: at most one request is active (stream_ != null) at a time; bytes of later requests
// stay unread in the socket, or in leftover_ when one read brought them along. A request that is
// answered before it is read whole is the connection's last.
#pragma once

#include <memory>
#include <string>

#include "http/codec.h"
#include "http/codec_scratch.h"
#include "http/codec_settings.h"
#include "http/http1/chunk_decoder.h"
#include "http/http1/framing.h"
#include "http/http1/scanner.h"
#include "http/http1/serializer.h"
#include "net/connection.h"

namespace fairlead::http1 {

class ServerConnection final : public http::ServerCodec,
                               public http::ServerStream,
                               private http::RawSink,
                               private net::ConnectionHandler,
                               private net::Timer {
 public:
  ServerConnection(net::Connection& connection, const http::ServerSettings& settings,
                   const http::CodecScratch& scratch, http::ServerCodecCallbacks& callbacks);
  ~ServerConnection() override;

  // http::ServerCodec
  void endAfter(net::Millis ms) override;
  void finish() override { finish(Linger::None); }
  void abort() override { closed(false); }
  int fd() const override {
    connection_.settle();
    return connection_.fd();
  }
  bool isIdleFor(net::Millis ms) const override;
  void tellHolders(Holders* into) override;
  Shed shedStream(uint32_t) override;

  // http::ServerStream
  void sendInformational(uint16_t status, http::HeaderMap* headers) override;
  void finishHead(http::ResponseOut& head, bool end) override;
  void sendHead(const http::ResponseOut& head, bool end) override;
  void sendData(std::string_view data, bool end) override;
  void sendTrailers(http::HeaderMap* trailers) override;
  void flush() override;
  void reset() override;
  bool isOverHighWatermark() const override { return connection_.isOverHighWatermark(); }
  void pauseReading() override { connection_.pauseReading(); }
  void resumeReading() override;
  bool endsConnection() const override { return close_requested_ || state_ != State::Complete; }
  http::RawSink* rawSink() override;

 private:
  enum class State : uint8_t {
    Head,       // Between requests, or inside a head.
    Body,       // The head was told; its body is being read.
    Complete,   // The request is complete; its answer is not.
    Raw,        // A tunnel was asked for, or is there: bytes are bytes.
    Lingering,  // The last answer is written; what comes is thrown away.
    Closed,
  };
  // Whether the client is waited for, at most the delayed close timeout, once all is written.
  enum class Linger : uint8_t { Delayed, None };
  using Opening = http::ServerCodecCallbacks::Opening;

  // http::RawSink
  bool canWriteNow() const override {
    connection_.settle();
    return connection_.isWritable();
  }
  void markUnwritable() override { connection_.markUnwritable(); }
  void onGiven(size_t bytes, bool end) override;
  // net::ConnectionHandler
  void onReadable() override;
  void onBelowLowWatermark() override;
  void onDrained() override;
  void onWriteFailed() override { onPeerEnd(); }
  void onTooSlow() override { abort(); }
  void onWritable() override;
  void onResetWhilePaused() override { onPeerEnd(); }
  // net::Timer
  void onTimer() override;
  void onRescale() override;

  // What few connections have.
  struct Rare {
    // Of the latest request; null: nobody asks for them.
    std::unique_ptr<http::KeptNames> names;
    // Of endAfter().
    net::Millis end = net::kNever;
  };

  bool isOpen() const { return state_ != State::Closed; }
  // The answer of that status grants what the request asked for.
  bool opensTunnel(uint16_t status, bool end) const {
    return state_ == State::Raw && !end && (connect_request_ ? status / 100 == 2 : status == 101);
  }
  bool mustWaitForClient() const;
  bool isShed(std::string_view bytes);
  // Whether a part of a head has come: it will not be one.
  bool leaveHead() {
    const bool was_in_head = in_head_;
    in_head_ = false;
    return was_in_head;
  }
  bool isWorthScanning(size_t bytes_before) const;
  void consumeLeftover();
  void consume(char* data, size_t size, std::unique_ptr<std::string> owner);
  size_t consumeHead(char* data, size_t size);
  void collectNames(std::string_view bytes);
  Rare& touchRare() {
    if (!rare_) rare_ = std::make_unique<Rare>();
    return *rare_;
  }
  net::Millis endsAt() const { return rare_ ? rare_->end : net::kNever; }
  void beginRequest(http::RequestHead& head, const BodyFraming& framing);
  void noteConnectionHeaders(http::RequestHead& head);
  bool isUpgradeIgnored(std::string_view protocol) const;
  size_t consumeBody(char* data, size_t size);
  size_t consumeChunks(char* data, size_t size);
  size_t consumeTrailers(char* data, size_t size);
  size_t waitForHead(const char* data, size_t size);
  bool mayBecomeHttp2() const;
  void leaveToHttp2(std::string_view bytes);
  void keep(const char* data, size_t size, std::unique_ptr<std::string> owner);
  void openStream(Opening opening);
  void refuse(const ScanError& error, uint32_t header_bytes = 0);
  void breakRequest(const ScanError& error);
  void onPeerEnd();
  void answerComplete();
  bool endsAtOnce() const;
  void finishExchange();
  void finish(Linger linger);
  void closed(bool by_peer);
  void resetStream(http::ResetReason reason, std::string_view details);
  void watch(net::Millis deadline);
  // Time runs only while nothing moves.
  void watchLinger();
  net::Millis idleTimeout() const;
  void count(const WrittenHead& written);
  void countReceived(size_t bytes);
  void countBytes();

  net::Connection& connection_;  // Open until state_ is Closed; gone with the turn of that.
  const http::ServerSettings& settings_;
  const http::CodecScratch& scratch_;
  http::ServerCodecCallbacks& callbacks_;
  http::RequestSink* stream_ = nullptr;
  // The stream's; null when there is none.
  http::ByteMeter* meter_ = nullptr;
  // What was read and not used yet: part of a head, or what follows the request that is answered.
  std::unique_ptr<std::string> leftover_;
  // Null: it has none of that.
  std::unique_ptr<Rare> rare_;
  // idle, head or linger deadline, by state; kNever: none.
  net::Millis deadline_ = net::kNever;
  // When the latest exchange was over.
  net::Millis idle_since_;
  uint64_t body_remaining_ = 0;
  // The low half of what was written when the linger deadline was set.
  uint32_t written_before_linger_ = 0;
  // Of leftover_, that were found to be no whole head (or trailers); 0: they were not looked at.
  uint32_t scanned_bytes_ = 0;
  // Of a head that has no stream yet.
  uint32_t unclaimed_bytes_ = 0;
  State state_ = State::Head;
  OutBody out_body_ = OutBody::None;
  bool in_head_ : 1 = false;  // A part of a head has come.
  bool had_request_ : 1 = false;
  bool chunked_ : 1 = false;
  bool in_trailers_ : 1 = false;
  bool consuming_ : 1 = false;
  // Of the request that is under way.
  bool http_10_ : 1 = false;
  bool head_request_ : 1 = false;
  bool connect_request_ : 1 = false;
  bool close_requested_ : 1 = false;  // By the client, or by its version.
  bool keep_alive_asked_ : 1 = false;
  // Of its answer.
  bool close_after_ : 1 = false;
  bool says_end_ : 1 = false;  // For more than that its request was not read whole.
  bool unframed_ : 1 = false;  // In HTTP/1.0, without a length.
  bool linger_delayed_ : 1 = false;
  ChunkDecoder chunks_;
};

}  // namespace fairlead::http1
