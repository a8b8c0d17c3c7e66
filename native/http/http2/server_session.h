// One client's HTTP/2 connection: makes requests of its streams. Owned by its callbacks; the
// worker's thread.
#pragma once

#include "http/codec.h"
#include "http/http2/server_stream.h"
#include "http/http2/session.h"

namespace fairlead::http2 {

class ServerSession final : public http::ServerCodec, public Session {
 public:
  ServerSession(net::Connection& connection, const http::ServerSettings& settings,
                const http::CodecScratch& scratch, http::ServerCodecCallbacks& callbacks);
  ~ServerSession() override;

  // http::ServerCodec
  void takeFirst(std::string_view bytes) override { take(bytes); }
  void endAfter(net::Millis ms) override;
  void finish() override { Session::finish(0, settings_.delayed_close_ms); }
  void abort() override;
  void onTooSlow() override { abort(); }
  int fd() const override { return Session::connection().fd(); }
  bool isIdleFor(net::Millis ms) const override;
  void tellHolders(Holders* into) override;
  Shed shedStream(uint32_t id) override;

  // ---- for its streams ----

  const http::ServerSettings& settings() const { return settings_; }
  // Of an answer that is composed whole.
  net::Millis flushTimeoutOf(const StreamBase& stream) const;
  bool isTellingHeadOf(const ServerStream& stream) const { return head_told_ == &stream; }

 private:
  // Session
  bool mayLookAtRead() override;
  std::optional<Message> onBlockBegin(uint32_t id) override;
  void onFields(uint32_t id, const Block& block, bool end) override;
  void onFaultyFields(uint32_t id, const ReadHead& read, bool end) override;
  void onLastStreamEnded() override;
  void onMoved() override;
  void onBroken(http::Breach breach, std::string_view details) override;
  void onCutBlock(uint32_t id) override;
  void onOver(bool by_peer) override;
  void onPeerReset(ErrorCode code) override;
  void onLingerTimeout() override { callbacks_.onDelayedCloseTimeout(); }
  void onEnding(std::string_view why) override { callbacks_.onEnding(why); }
  void release(StreamBase& stream) override;
  net::Millis nextDeadline() const override;
  void onDeadline(net::Millis now) override;
  // net::Timer
  void onRescale() override;

  void onRequest(uint32_t id, const Block& block, bool end);
  void onTrailers(ServerStream& stream, const Block& block, bool end);
  // What cannot be told: `read` says why.
  void refuseRequest(uint32_t id, const ReadHead& read, bool end);
  void refuseTrailers(ServerStream& stream, const ReadHead& read);
  void refuseTooLarge(ServerStream& stream, const ReadHead& read);
  bool mayOpen(uint32_t id);
  ServerStream& newStream(uint32_t id, http::ServerCodecCallbacks::Opening opening,
                          size_t wire_bytes);
  void lastGoAway();
  void beginIdle();
  net::Millis idleTimeout() const;

  const http::ServerSettings& settings_;
  http::ServerCodecCallbacks& callbacks_;
  // Of endAfter(): then nothing new is taken any more.
  net::Millis end_ = net::kNever;
  net::Millis idle_since_;
  // When it may be told that it has been idle for too long; kNever: a stream is open.
  net::Millis idle_deadline_ = net::kNever;
  // Resets that the client may make still, in thousandths, and when that was so.
  uint64_t reset_tokens_ = 0;
  net::Millis reset_tokens_at_ = 0;
  bool ends_after_streams_ = false;
  // Whose head is being told of right now; null: nobody's is.
  const ServerStream* head_told_ = nullptr;
};

}  // namespace fairlead::http2
