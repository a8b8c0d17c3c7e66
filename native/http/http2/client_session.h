// One HTTP/2 connection to a host: any number of requests at once. Owned by its callbacks; the
// worker's thread.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "base/list.h"
#include "http/client_loans.h"
#include "http/codec.h"
#include "http/codec_settings.h"
#include "http/counted_bytes.h"
#include "http/http2/client_stream.h"
#include "http/http2/session.h"

namespace fairlead::http2 {

class ClientSession final : public http::ClientCodec, private Session {
 public:
  ClientSession(net::Connection& connection, const http::ClientSettings& settings,
                const http::ClientLoans& loans, http::ClientCodecCallbacks& callbacks);
  ~ClientSession() override;

  // The connection is there already; nobody is told so.
  void beginSession();

  // http::ClientCodec
  uint32_t freeStreams() const override;
  http::ClientStream& newStream(http::ResponseSink& sink) override;
  bool isActive() const override { return activeStreams() > 0; }
  bool isMultiplexed() const override { return true; }
  void drain() override;
  void abort(http::ClientCodecCallbacks::CloseReason reason) override;
  net::Connection& connection() override { return Session::connection(); }
  std::string_view protocol() const override { return "HTTP/2"; }

 private:
  friend class ClientStream;
  using CloseReason = http::ClientCodecCallbacks::CloseReason;
  using Failure = http::ClientCodecCallbacks::Failure;
  using StreamEnd = http::ClientCodecCallbacks::StreamEnd;

  // net::ConnectionHandler
  void onReady(int error) override;
  void onWriteFailed() override;

  // Session
  std::optional<Message> onBlockBegin(uint32_t id) override;
  void onFields(uint32_t id, const Block& block, bool end) override;
  void onFaultyFields(uint32_t id, const ReadHead& read, bool end) override;
  void onPeerSettings() override;
  void onGoAway(uint32_t last_stream, ErrorCode code) override;
  void onPeerReset(ErrorCode code) override { peer_code_ = code; }
  void onLastStreamEnded() override;
  void onMoved() override;
  void onBroken(http::Breach breach, std::string_view details) override;
  void onClosing(bool by_peer) override;
  void onOver(bool) override {}
  net::Millis nextDeadline() const override;
  void onDeadline(net::Millis now) override;
  void release(StreamBase& stream) override;
  void resetUnopened(http::ResetReason reason, std::string_view details) override;

  // ---- for streams ----

  // Its head is about to be sent: it has a number from here on.
  void opened(ClientStream& stream);
  // The answer is whole. The stream must not be used any more.
  void complete(ClientStream& stream, http::ResponseSink& sink);
  // The request ends now, after its answer.
  void bothEnded(ClientStream& stream, http::ResponseSink& sink);
  void serveWaiting() { callbacks_.serveWaiting(); }
  // Nobody wants the answer any more.
  void abandon(ClientStream& stream);
  // It ended early.
  void lost(ClientStream& stream, http::ResponseSink& sink, http::ResetReason reason,
            std::string_view details);

  void onResponse(ClientStream& stream, const Block& block, bool end);
  void onTrailers(ClientStream& stream, const Block& block, bool end);
  // A head or trailers that cannot be told. True: it was one.
  bool isUnreadable(ClientStream& stream, const ReadHead& read);
  uint32_t activeStreams() const { return openStreams() + unopened_count_; }
  bool takesStreams() const;
  void connectFailed(Failure failure, int error);
  void noteIdle();
  // The pool hears that there is room again, or none any more.
  void tellRoom();
  // No streams begin any more: over, once there are none.
  void endWhenIdle();
  void over(CloseReason reason);

  const http::ClientSettings& settings_;
  http::ResponseHead& scratch_head_;
  http::ClientCodecCallbacks& callbacks_;
  net::Millis connect_deadline_ = net::kNever;
  net::Millis idle_deadline_ = net::kNever;
  // max_duration_ms: no request is sent from here on.
  net::Millis duration_end_ = net::kNever;
  // When the latest stream ended.
  net::Millis idle_since_ = 0;
  http::CountedBytes counted_;
  uint32_t next_id_ = 1;
  uint32_t requests_ = 0;
  // Streams whose heads have not been sent: somebody may hold them up for long.
  List<ClientStream> unopened_;
  uint32_t unopened_count_ = 0;
  // Of the RST_STREAM that is being told of.
  ErrorCode peer_code_ = ErrorCode::NoError;
  // Set before it is closed from here.
  std::optional<CloseReason> reason_;
  bool is_connected_ : 1 = false;
  bool is_draining_ : 1 = false;
  bool has_goaway_ : 1 = false;
  bool is_over_ : 1 = false;
  // What the host sent is not the protocol.
  bool is_broken_ : 1 = false;
  // A stream ends for the size of its answer's head.
  bool is_too_large_ : 1 = false;
  // What the pool knows: it has no room.
  bool is_full_ : 1 = true;
};

}  // namespace fairlead::http2
