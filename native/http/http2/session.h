// One HTTP/2 connection, of either side: reads frames and keeps what RFC 9113 wants of both sides
// (settings, windows, pings, the ends of streams), bounds what a peer may cost, and writes. What a
// message means is its sides': server_session, client_session. One thread; owned by its side's
// callbacks.
//
// Always holds:
// - What is written goes to the connection's queue, and leaves at the end of the turn: many
//   streams in one system call; what is long of a body leaves with what is queued before it, from
//   where it was read to. A stream's body waits with the stream while its window, the
//   connection's, or the connection's watermark does not let it go on.
// - A stream's window is given back as its bytes are used up, which is when they are told, unless
//   its reading is paused: a peer that sends more than is taken stops at its window.
// - Between two streams that one read tells of, the former hears onReadEnd(): bytes for one
//   connection are gathered at a time.
// - A block of fields is read to its end, whatever becomes of its stream: the tables depend on it.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/codec.h"
#include "http/codec_scratch.h"
#include "http/codec_settings.h"
#include "http/http2/frames.h"
#include "http/http2/head_reader.h"
#include "http/http2/hpack_decoder.h"
#include "http/http2/hpack_encoder.h"
#include "http/http2/open_block.h"
#include "http/http2/outbound_frames.h"
#include "http/http2/settings.h"
#include "http/http2/stream.h"
#include "http/http2/stream_table.h"
#include "net/connection.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"

namespace fairlead::http2 {

enum class Side : uint8_t { Server, Client };

using Counter = stats::Http2Codec::Counter;
using Gauge = stats::Http2Codec::Gauge;

class Session : protected net::ConnectionHandler, protected net::Timer, protected net::Deferred {
 public:
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  net::Connection& connection() { return connection_; }
  const net::Connection& connection() const { return connection_; }
  bool isOpen() const { return phase_ != Phase::Closed; }

 protected:
  Session(Side side, net::Connection& connection, const plan::Http2Options& options,
          const http::HeadLimits& limits, const http::CodecScratch& scratch,
          stats::Shard<stats::Http2Codec>& stats);
  ~Session();

  // ---- what its side says of frames ----

  // Bytes were read. False: nobody is to look at them, and the connection ends.
  virtual bool mayLookAtRead() { return true; }
  // A block of fields begins. What it is; nothing: nobody wants it, or the connection has failed.
  virtual std::optional<Message> onBlockBegin(uint32_t id) = 0;
  // It is whole. Read it with readFields(), always.
  virtual void onFields(uint32_t id, const Block& block, bool end) = 0;
  // What has come of it so far is too large or breaks a rule; nothing more is told of it.
  virtual void onFaultyFields(uint32_t id, const ReadHead& read, bool end) = 0;
  // The peer's settings have changed.
  virtual void onPeerSettings() {}
  // The peer takes no more streams, and none after `last_stream` was looked at.
  virtual void onGoAway(uint32_t last_stream, ErrorCode code) {}
  // The number of open streams became 0.
  virtual void onLastStreamEnded() = 0;
  // Something was read or written.
  virtual void onMoved() = 0;
  // What came breaks the protocol; the streams have been told, and the connection ends.
  virtual void onBroken(http::Breach breach, std::string_view details) = 0;
  // A header block has begun whose rest does not come: the connection is about to end.
  virtual void onCutBlock(uint32_t) {}
  // The connection is about to be closed; the streams have not been told yet.
  virtual void onClosing(bool by_peer) {}
  // The connection is over, and closed; the streams have been told.
  virtual void onOver(bool by_peer) = 0;
  // Whatever else its side waits for: the next deadline, and that it has come. kNever: none.
  virtual net::Millis nextDeadline() const { return net::kNever; }
  virtual void onDeadline(net::Millis now) {}
  // The peer has reset a stream, which is told next.
  virtual void onPeerReset(ErrorCode code) {}
  // The peer did not end its side in time.
  virtual void onLingerTimeout() {}
  // Before onClosing(), where it ends from here; empty: nothing is left to do.
  virtual void onEnding(std::string_view /*why*/) {}

  // ---- streams ----

  // `stream` becomes the one of that number.
  void open(StreamBase& stream, uint32_t id);
  StreamBase* find(uint32_t id) const { return streams_.find(id); }
  uint32_t openStreams() const { return streams_.size(); }
  template <typename Visit>
  void forEachStream(Visit visit) {
    streams_.forEach(visit);
  }
  void resetAll(http::ResetReason reason, std::string_view details);
  // The same of streams that have no number yet.
  virtual void resetUnopened(http::ResetReason, std::string_view) {}
  // The stream is no more: it goes back to where it came from.
  virtual void release(StreamBase& stream) = 0;

  // All of a block; of a message that is broken or too large the caller makes a reset, and of a
  // request that cannot be decoded it calls failUndecodable().
  ReadHead readFields(const Block& block, Message message, http::HeaderMap& headers, Arena& arena);
  // The tables of both sides are no longer the same.
  void failUndecodable();
  // One that nobody wants.
  void ignoreBlock(std::string_view block);
  void countTooLarge(const ReadHead& head);
  // The head of a stream was told: its body, if any, may come.
  void headReceived(StreamBase& stream, const ReadHead& head, bool end);
  // False: less of a body came than its head said.
  static bool isWholeAtEnd(const StreamBase& stream) {
    return stream.length_left_ == StreamBase::kNoLength || stream.length_left_ == 0;
  }
  // A length that trailers tell, where the head has told none, is that of the body. True: it is
  // not, and the stream is over.
  bool isLengthRefused(const StreamBase& stream, const ReadHead& trailers);
  // Its last frame has come; with that of our side the stream ends.
  static void markRemoteEnd(StreamBase& stream) { stream.remote_ended_ = true; }
  // The same; where our side has ended as well, the stream is over now.
  void endRemote(StreamBase& stream);
  // What logs say of streams whose connection another one has broken.
  static constexpr std::string_view kBrokenByAnother =
      "codec_error:The_user_callback_function_failed";
  // … and of the one that has: there is no word of its own for most.
  static constexpr std::string_view kUnknownError = "http2.unknown.nghttp2.error";
  // Its body is not as long as its head says: the stream ends.
  void wrongLength(uint32_t id);
  // What came breaks the rules of HTTP.
  void brokenMessage(uint32_t id, std::string_view details);
  // RST_STREAM, and whoever has the stream is told.
  void streamError(uint32_t id, ErrorCode code, std::string_view details);
  // What comes for that stream is ignored, or an error that says so.
  void remember(uint32_t id, bool reset_by_us);
  // It ended early: told, released.
  void tellReset(StreamBase& stream, http::ResetReason reason, std::string_view details,
                 bool reset_by_us);
  // The one that hears onReadEnd() once another one is told of something.
  void telling(StreamBase& stream);
  static bool hasHeadOf(const StreamBase& stream) { return stream.head_received_; }
  // Of setFlushTimeout().
  static std::optional<net::Millis> ownFlushTimeout(const StreamBase& stream) {
    if (stream.flush_timeout_ms_ == StreamBase::kOfSession) return std::nullopt;
    return stream.flush_timeout_ms_;
  }

 public:
  static bool hasRemoteEnded(const StreamBase& stream) { return stream.remote_ended_; }
  static bool hasLocalEnded(const StreamBase& stream) {
    return stream.local_ended_ || stream.end_pending_;
  }
  // The end is composed, and waits behind what cannot be sent now.
  static bool isEndPending(const StreamBase& stream) { return stream.end_pending_; }
  // ---- for streams ----

  // Compose a block in memory that `most` bytes fit in, then write it: `begin` and `end` are of the
  // block. Returns what it takes on the wire.
  char* beginBlock(size_t most);
  size_t writeBlock(StreamBase& stream, char* begin, char* end, bool end_stream);
  HpackEncoder& encoder() { return encoder_; }
  void sendData(StreamBase& stream, std::string_view data, bool end);
  void sendTrailers(StreamBase& stream, const http::HeaderMap& trailers);
  // Long bodies are not copied: what is gathered of them goes out now.
  void sendGathered() {
    if (scratch_.batch.isOf(connection_)) connection_.send(scratch_.batch);
  }
  // RST_STREAM, at once, or once what is composed has been sent; the stream is released.
  void reset(StreamBase& stream, ErrorCode code);
  void resetAfterEnd(StreamBase& stream, ErrorCode code);
  // In place of what leave() is told.
  void setFlushTimeout(StreamBase& stream, net::Millis ms) {
    stream.flush_timeout_ms_ =
        static_cast<uint32_t>(std::min<net::Millis>(ms, StreamBase::kOfSession - 1));
  }
  // Nobody waits for the stream any more, which goes on until all of it is sent, at most so long
  // without moving; 0: as long as it takes.
  void leave(StreamBase& stream, net::Millis flush_timeout_ms);
  void pauseReading(StreamBase& stream) { ++stream.read_pauses_; }
  void resumeReading(StreamBase& stream);
  bool isOverHighWatermark(const StreamBase& stream) const {
    return stream.pending_.size() > buffer_limit_ || connection_.isOverHighWatermark();
  }
  // Who feeds the stream is about to ask whether it is over: it hears onWritable() when it is not.
  void noteWatermark(StreamBase& stream) { stream.behind_ |= isOverHighWatermark(stream); }

 protected:
  // ---- the connection ----

  // What both sides begin with: settings, and the connection's window.
  void begin();
  const PeerSettings& peer() const { return peer_; }
  const plan::Http2Options& options() const { return options_; }
  const http::HeadLimits& limits() const { return limits_; }
  const http::CodecScratch& scratch() const { return scratch_; }
  stats::Shard<stats::Http2Codec>& stats() { return stats_; }
  net::Loop& loop() { return connection_.loop(); }
  uint32_t lastStream() const { return last_stream_; }
  void sawStream(uint32_t id);
  bool isIdleId(uint32_t id) const;
  bool isRefusing() const { return goaway_sent_; }
  void sendReset(uint32_t id, ErrorCode code);
  void goAway(uint32_t last_stream, ErrorCode code, std::string_view text = {});
  // The peer broke the protocol, and is told so.
  void fail(ErrorCode code, std::string_view text, std::string_view details);
  // The same without a word, where the real server has none. Only the stream that is the cause, if
  // one is, is told why.
  void failSilently(std::string_view details, uint32_t cause = 0);
  // More of something came than is allowed. Only the stream that is the cause, if one is, is told
  // so in these words.
  void flooded(std::string_view details, uint32_t cause = 0);
  void tellCutBlock();
  // Ends once what is written has left; `wait_ms`: and the peer has ended, at most so long.
  void finish(net::Millis wait_ms, net::Millis flush_ms);
  // Ends now.
  void close(bool by_peer, http::ResetReason reason, std::string_view details);
  // Everything that came is handled as if it was read now.
  void take(std::string_view bytes);
  void rearm();
  void ping();
  // Settings have been sent: anything may.
  bool hasBegun() const { return begun_; }
  bool isLingering() const { return phase_ == Phase::Lingering; }
  bool hasLeftover() const { return leftover_ || block_ || in_data_; }
  // The peer knows ours.
  bool haveSettingsCome() const { return settings_acked_; }
  // All that are open end, and nobody is told: for a side that is destroyed.
  void endStreams();
  net::Millis delayed_close_ms_ = 0;

  // net::ConnectionHandler
  void onReadable() override;
  void onBelowLowWatermark() override;
  void onDrained() override;
  void onWriteFailed() override { peerEnded(); }
  void onResetWhilePaused() override { peerEnded(); }
  // net::Timer
  void onTimer() override;
  // net::Deferred
  void onDeferred() override;

  // Pages of what was used have it from here on, be it 0.
  void showAsUsed(Gauge gauge) {
    stats_.up(gauge);
    stats_.down(gauge);
  }

 private:
  enum class Phase : uint8_t {
    Preface,   // A server waits for what a client begins with.
    Settings,  // The peer's first frame must be its settings.
    Open,
    Lingering,  // The end has been written; what comes is thrown away.
    Closed,
  };

  // ---- session_read.cc, session_blocks.cc and session_frames.cc: frames ----
  bool isReading() const { return phase_ < Phase::Lingering; }
  void received(const char* data, size_t size);
  size_t consume(const char* data, size_t size);
  size_t consumePreface(const char* data, size_t size);
  size_t consumeFrame(const char* data, size_t size);
  bool checkHead(const FrameHead& head);
  void onFrame(const FrameHead& head, std::string_view payload);
  size_t beginData(const FrameHead& head, const char* data, size_t size);
  size_t consumeData(const char* data, size_t size);
  void tellData(std::string_view data);
  void endData();
  void onHeadersFrame(const FrameHead& head, std::string_view payload);
  void onContinuation(const FrameHead& head, std::string_view payload);
  std::optional<Message> beginBlockOf(uint32_t id);
  void beginOpenBlock(uint32_t id, std::optional<Message> message, std::string_view piece,
                      size_t frame_bytes);
  void takeOfBlock(std::string_view piece, size_t frame_bytes);
  void onBlock(uint32_t id, Message message, const Block& block);
  void onPriority(const FrameHead& head, std::string_view payload);
  void onRstStream(const FrameHead& head, std::string_view payload);
  void onSettings(const FrameHead& head, std::string_view payload);
  bool applySetting(uint16_t id, uint32_t value);
  bool changeWindows(uint32_t initial);
  void onPing(const FrameHead& head, std::string_view payload);
  void onGoAwayFrame(const FrameHead& head, std::string_view payload);
  void onWindowUpdate(const FrameHead& head, std::string_view payload);
  void countEmpty(bool is_empty, uint32_t id);
  bool mustWaitForPeer() const { return connection_.isOverHighWatermark(); }
  void endReadOf();
  void endReadUnless(const StreamBase* stream) {
    if (told_ && told_ != stream) endReadForAnother();
  }
  void endReadForAnother();

  // ---- session_write.cc: what goes out ----
  void queue(std::string_view bytes);
  void out(std::string_view bytes, bool is_control);
  void sendFrame(FrameType type, uint8_t flags, uint32_t id, std::string_view payload);
  void countOut(bool is_control);
  void sendSettings();
  void announceWindow();
  void writeTrailers(StreamBase& stream, const http::HeaderMap& trailers);
  // Of writeBlock(), without what comes of its end.
  size_t writeFrames(const StreamBase& stream, char* begin, char* end, bool end_stream);
  void writeDataHead(StreamBase& stream, size_t bytes, bool is_last);
  uint32_t mostInFrame() const;
  void writeData(StreamBase& stream, std::string_view data, bool is_last);
  void noteData(StreamBase& stream, size_t bytes);
  void sendWindowUpdate(uint32_t id, uint32_t bytes);
  void useUp(StreamBase* stream, uint32_t bytes);
  void giveBack(StreamBase& stream, uint32_t bytes);
  void giveBackConnection();
  size_t sendNow(StreamBase& stream, std::string_view data, bool end);
  void sendPending(StreamBase& stream);
  void pump();
  void watchFlush(const StreamBase& stream);
  void wantToSend(StreamBase& stream);
  void afterLocalEnd(StreamBase& stream);
  void lateReset(StreamBase& stream);

  // ---- session.cc ----
  void forget(StreamBase& stream, bool reset_by_us);
  void remove(StreamBase& stream, bool reset_by_us);
  bool wasResetByUs(uint32_t id) const;
  // Frames of a stream that is closed were sent before the peer knew that. A client has too many to
  // remember them all, and trusts its host.
  bool mayBeLate(uint32_t id) const { return side_ == Side::Client || wasResetByUs(id); }
  bool hasClosed(uint32_t id) const;
  void peerEnded();
  void overflow(Counter counter, std::string_view details);
  void breakOff(http::Breach breach, std::string_view details, std::string_view told,
                uint32_t cause = 0);
  void watchLinger();
  void checkFlushes(net::Millis now);
  void beginKeepalive();
  void schedulePing();
  void onPong();

  net::Connection& connection_;
  const plan::Http2Options& options_;
  const http::HeadLimits& limits_;
  const http::CodecScratch& scratch_;
  stats::Shard<stats::Http2Codec>& stats_;
  HpackDecoder decoder_;
  HpackEncoder encoder_;
  StreamTable streams_;
  // Those with bytes, and a window of their own, for them.
  List<StreamBase> senders_;
  // Those that are reset soon, if their peer has not ended them by then.
  List<StreamBase> late_resets_;
  // Of the latest read.
  StreamBase* told_ = nullptr;
  PeerSettings peer_;
  // Part of a frame.
  std::unique_ptr<std::string> leftover_;
  // A block of fields whose rest comes in CONTINUATION frames.
  std::unique_ptr<OpenBlock> block_;
  OutboundFrames outbound_;
  uint32_t buffer_limit_;
  int32_t send_window_ = kDefaultWindow;
  int64_t receive_window_ = kDefaultWindow;
  uint32_t consumed_ = 0;
  uint32_t max_frame_bytes_ = kDefaultFrameBytes;
  // The highest number that the peer (of a client: we) has used.
  uint32_t last_stream_ = 0;
  // The DATA frame that is being read.
  uint32_t data_stream_ = 0;
  uint32_t data_left_ = 0;
  uint32_t padding_left_ = 0;
  // What its stream's account has of it.
  uint32_t counted_of_frame_ = 0;
  // The block that is being read.
  uint32_t block_stream_ = 0;
  // What a peer may not do without end.
  uint32_t opened_streams_ = 0;
  uint32_t empty_frames_ = 0;
  uint32_t priority_frames_ = 0;
  uint32_t window_updates_ = 0;
  uint64_t data_frames_sent_ = 0;
  // Keepalive and the end.
  net::Millis ping_at_ = net::kNever;
  net::Millis ping_deadline_ = net::kNever;
  net::Millis linger_deadline_ = net::kNever;
  net::Millis flush_check_ = net::kNever;
  net::Millis late_resets_at_ = net::kNever;
  uint64_t written_before_linger_ = 0;
  uint32_t linger_ms_ = 0;
  // Of the latest streams that ended: their numbers, those that we reset with the top bit set.
  static constexpr size_t kRemembered = 32;
  uint32_t ended_[kRemembered] = {};
  // Why the connection ends at the end of the turn; empty: it does not.
  std::string_view overflow_;
  Counter overflow_counter_ = Counter::OutboundFlood;
  const Side side_;
  Phase phase_;
  uint8_t next_ended_ = 0;
  bool in_data_ : 1 = false;
  bool data_ends_ : 1 = false;
  bool block_ends_ : 1 = false;
  bool depends_on_itself_ : 1 = false;
  bool begun_ : 1 = false;
  bool settings_acked_ : 1 = false;
  bool window_announced_ : 1 = false;
  bool goaway_sent_ : 1 = false;
  bool linger_for_peer_ : 1 = false;
  bool consuming_ : 1 = false;
  bool pumping_ : 1 = false;
  bool overflowed_by_read_ : 1 = false;
};

}  // namespace fairlead::http2
