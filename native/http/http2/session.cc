// A session's life: its streams, its timers, its end. Frames in: session_read.cc; out:
// session_write.cc.
#include "http/http2/session.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

namespace fairlead::http2 {

using http::ResetReason;

namespace {

// What waits with one stream before its host is paused, at most: there may be a thousand of them,
// whose peer opens no window.
constexpr uint32_t kMostPending = 64 * 1024;
// A stream that ended as we reset it.
constexpr uint32_t kResetByUs = 1u << 31;

// What logs say of the streams of a connection that ends for it, in the real server's words.
std::string_view toldOfFlood(std::string_view details) {
  constexpr std::pair<std::string_view, std::string_view> kTold[] = {
      {"http2.inbound_empty_frames_flood",
       "codec_error:Too_many_consecutive_frames_with_an_empty_payload"},
      {"http2.inbound_priority_frames_flood", "codec_error:Too_many_PRIORITY_frames"},
      {"http2.inbound_window_update_frames_flood", "codec_error:Too_many_WINDOW_UPDATE_frames"},
      {"http2.outbound_control_frames_flood",
       "codec_error:Too_many_control_frames_in_the_outbound_queue."},
      {"http2.outbound_frames_flood", "codec_error:Too_many_frames_in_the_outbound_queue."},
  };
  for (const auto& [of, told] : kTold) {
    if (of == details) return told;
  }
  return details;
}

}  // namespace

Session::Session(Side side, net::Connection& connection, const plan::Http2Options& options,
                 const http::HeadLimits& limits, const http::CodecScratch& scratch,
                 stats::Shard<stats::Http2Codec>& stats)
    : connection_(connection),
      options_(options),
      limits_(limits),
      scratch_(scratch),
      stats_(stats),
      encoder_(!options.without_huffman),
      buffer_limit_(std::clamp(connection.bufferLimit(), kDefaultFrameBytes, kMostPending)),
      side_(side),
      phase_(side == Side::Server ? Phase::Preface : Phase::Settings) {
  connection_.setHandler(*this);
  decoder_.setMostText(options.max_header_field_bytes);
}

Session::~Session() {
  if (!isOpen()) return;
  scratch_.batch.dropOf(connection_);
  connection_.close();
}

void Session::endStreams() {
  while (StreamBase* stream = streams_.any()) {
    forget(*stream, false);
    release(*stream);
  }
}

// ---- streams ----

void Session::open(StreamBase& stream, uint32_t id) {
  stream.session_ = this;
  stream.id_ = id;
  stream.send_window_ = static_cast<int32_t>(peer_.initial_window);
  stream.receive_window_ = static_cast<int32_t>(options_.stream_window_bytes);
  streams_.insert(stream);
  ++opened_streams_;
  stats_.up(Gauge::StreamsActive);
  beginKeepalive();
}

void Session::sawStream(uint32_t id) { last_stream_ = std::max(last_stream_, id); }

void Session::headReceived(StreamBase& stream, const ReadHead& head, bool end) {
  stream.head_received_ = true;
  if (head.length != ReadHead::kNoLength) stream.length_left_ = head.length;
  if (end) stream.remote_ended_ = true;
}

void Session::telling(StreamBase& stream) {
  endReadUnless(&stream);
  told_ = &stream;
}

// Who answers on another connection may be told of more in the same read.
void Session::endReadForAnother() {
  scratch_.batch.letWait(true);
  endReadOf();
  scratch_.batch.letWait(false);
}

void Session::endReadOf() {
  if (StreamBase* told = std::exchange(told_, nullptr)) told->onReadEnd();
}

void Session::leave(StreamBase& stream, net::Millis flush_timeout_ms) {
  if (flush_timeout_ms == 0) return;
  stream.flush_timeout_ms_ = static_cast<uint32_t>(flush_timeout_ms);
  stream.flush_deadline_ = loop().now() + flush_timeout_ms;
}

// It is nobody's from here on, but for who is to release it.
void Session::forget(StreamBase& stream, bool reset_by_us) {
  streams_.erase(stream);
  stream.unlink();
  if (told_ == &stream) told_ = nullptr;
  if (!stream.pending_.empty()) {
    stats_.down(Gauge::PendingSendBytes, stream.pending_.size());
    stream.pending_.clear(loop().slabs());
  }
  // What nobody will read is used up: others may wait for the room. Amid a read that is seen to at
  // its end.
  consumed_ += stream.held_;
  if (!consuming_ && isReading()) giveBackConnection();
  remember(stream.id_, reset_by_us);
  stats_.down(Gauge::StreamsActive);
  stream.session_ = nullptr;
}

void Session::remember(uint32_t id, bool reset_by_us) {
  ended_[next_ended_] = id | (reset_by_us ? kResetByUs : 0);
  next_ended_ = (next_ended_ + 1) % kRemembered;
}

void Session::remove(StreamBase& stream, bool reset_by_us) {
  forget(stream, reset_by_us);
  release(stream);
  if (streams_.size() == 0 && isOpen()) onLastStreamEnded();
}

void Session::endRemote(StreamBase& stream) {
  markRemoteEnd(stream);
  if (stream.local_ended_) remove(stream, false);
}

void Session::tellReset(StreamBase& stream, ResetReason reason, std::string_view details,
                        bool reset_by_us) {
  endReadUnless(&stream);
  // Those who were told of the read before it may have ended it.
  if (stream.session_ != this) return;
  forget(stream, reset_by_us);
  stream.onReset(reason, details);
  release(stream);
  if (streams_.size() == 0 && isOpen()) onLastStreamEnded();
}

// Those that began last hear of it first, as the real server's do.
void Session::resetAll(ResetReason reason, std::string_view details) {
  if (streams_.size() > 1) {
    std::vector<uint32_t> ids;
    ids.reserve(streams_.size());
    streams_.forEach([&ids](StreamBase& stream) { ids.push_back(stream.id()); });
    std::ranges::sort(ids, std::greater<>());
    for (const uint32_t id : ids) {
      if (StreamBase* stream = find(id)) tellReset(*stream, reason, details, false);
    }
  }
  while (StreamBase* stream = streams_.any()) tellReset(*stream, reason, details, false);
  resetUnopened(reason, details);
}

bool Session::wasResetByUs(uint32_t id) const {
  return std::find(ended_, ended_ + kRemembered, id | kResetByUs) != ended_ + kRemembered;
}

bool Session::hasClosed(uint32_t id) const {
  return wasResetByUs(id) || std::find(ended_, ended_ + kRemembered, id) != ended_ + kRemembered;
}

// ---- the end ----

void Session::fail(ErrorCode code, std::string_view text, std::string_view details) {
  if (phase_ == Phase::Closed || phase_ == Phase::Lingering) return;
  tellCutBlock();
  goAway(side_ == Side::Server ? last_stream_ : 0, code, text);
  failSilently(details);
}

void Session::failSilently(std::string_view details, uint32_t cause) {
  breakOff(http::Breach::Rules, details, kBrokenByAnother, cause);
}

void Session::flooded(std::string_view details, uint32_t cause) {
  breakOff(http::Breach::Flood, details, toldOfFlood(details), cause);
}

void Session::breakOff(http::Breach breach, std::string_view details, std::string_view told,
                       uint32_t cause) {
  if (phase_ == Phase::Closed || phase_ == Phase::Lingering) return;
  tellCutBlock();
  onBroken(breach, details);
  StreamBase* const stream = cause == 0 ? nullptr : find(cause);
  if (stream) tellReset(*stream, ResetReason::ProtocolError, details, false);
  resetAll(ResetReason::ProtocolError, told);
  if (isOpen()) finish(delayed_close_ms_, delayed_close_ms_);
}

void Session::finish(net::Millis wait_ms, net::Millis flush_ms) {
  if (phase_ == Phase::Closed || phase_ == Phase::Lingering) return;
  onEnding({});
  // The last of a body may be gathered still: it is pending, too.
  sendGathered();
  if (wait_ms == 0 && connection_.pendingBytes() == 0) {
    close(false, ResetReason::LocalReset, {});
    return;
  }
  phase_ = Phase::Lingering;
  leftover_.reset();
  block_.reset();
  connection_.forgetPauses();
  linger_for_peer_ = wait_ms > 0;
  linger_ms_ = static_cast<uint32_t>(linger_for_peer_ ? wait_ms : flush_ms);
  onMoved();
  watchLinger();
  if (!consuming_ && connection_.isReadable()) connection_.readSoon();
}

// Time runs only while nothing moves: a slow peer gets what is written whole.
void Session::watchLinger() {
  if (linger_ms_ == 0) return;
  written_before_linger_ = connection_.writtenBytes();
  linger_deadline_ = loop().now() + linger_ms_;
  rearm();
}

void Session::close(bool by_peer, ResetReason reason, std::string_view details) {
  if (!isOpen()) return;
  phase_ = Phase::Closed;
  Timer::disarm();
  Deferred::unlink();
  onMoved();
  onClosing(by_peer);
  resetAll(reason, details);
  scratch_.batch.dropOf(connection_);
  connection_.close();
  onOver(by_peer);
}

void Session::tellCutBlock() {
  const uint32_t id = std::exchange(block_stream_, 0);
  if (id != 0 && block_->isWanted()) onCutBlock(id);
}

void Session::peerEnded() {
  tellCutBlock();
  close(true, ResetReason::ConnectionTermination,
        side_ == Side::Server ? "downstream_remote_disconnect" : "upstream_remote_disconnect");
}

// Not from within whoever asked for what overflows: at the end of the turn.
// What one read makes overflow is told by all that it made.
void Session::overflow(Counter counter, std::string_view details) {
  if (phase_ == Phase::Closed || phase_ == Phase::Lingering || overflow_ == details) return;
  if (overflow_.empty()) loop().defer(this);
  overflow_ = details;
  overflow_counter_ = counter;
  overflowed_by_read_ = consuming_;
}

void Session::onDeferred() {
  if (overflow_.empty() || !isOpen()) return;
  const std::string_view details = std::exchange(overflow_, {});
  stats_.add(overflow_counter_);
  // As the real server: what is sent to a host without being asked for just ends the connection.
  if (side_ == Side::Client && !overflowed_by_read_) {
    close(false, ResetReason::ConnectionTermination, {});
    return;
  }
  breakOff(http::Breach::Flood, details, overflowed_by_read_ ? toldOfFlood(details) : details);
}

// ---- events ----

void Session::onBelowLowWatermark() {
  pump();
  if (!isOpen()) return;
  // Streams whose bytes never came to wait here are behind all the same.
  bool is_told = true;
  while (is_told && isOpen()) {
    is_told = false;
    streams_.forEach([&](StreamBase& stream) {
      if (is_told || !stream.behind_ || isOverHighWatermark(stream)) return;
      stream.behind_ = false;
      is_told = true;
      stream.onWritable();
    });
  }
  if (isOpen() && connection_.isReadable()) connection_.readSoon();
}

void Session::onDrained() {
  onMoved();
  if (phase_ == Phase::Lingering) {
    if (!linger_for_peer_) {
      close(false, ResetReason::LocalReset, {});
      return;
    }
    watchLinger();
    return;
  }
  pump();
}

// ---- time ----

void Session::rearm() {
  const net::Millis due = std::min(
      {nextDeadline(), ping_at_, ping_deadline_, linger_deadline_, flush_check_, late_resets_at_});
  if (due != net::kNever) loop().timers().armBy(this, due);
}

void Session::onTimer() {
  const net::Millis now = loop().now();
  if (linger_deadline_ <= now) {
    if (connection_.writtenBytes() != written_before_linger_ && connection_.pendingBytes() > 0) {
      onMoved();
      watchLinger();
      return;
    }
    onLingerTimeout();
    close(false, ResetReason::LocalReset, {});
    return;
  }
  if (ping_deadline_ <= now) {
    stats_.add(Counter::KeepaliveTimeout);
    onEnding("http2_ping_timeout");
    close(false, ResetReason::LocalReset, "http2_ping_timeout");
    return;
  }
  if (ping_at_ <= now) {
    ping_at_ = net::kNever;
    ping();
  }
  if (late_resets_at_ <= now) {
    late_resets_at_ = net::kNever;
    while (StreamBase* stream = late_resets_.popFront()) {
      reset(*stream, static_cast<ErrorCode>(stream->reset_after_));
    }
  }
  if (flush_check_ <= now) checkFlushes(now);
  if (isOpen() && nextDeadline() <= now) onDeadline(now);
  if (isOpen()) rearm();
}

// Streams that are composed whole, and whose peer takes nothing.
void Session::checkFlushes(net::Millis now) {
  flush_check_ = net::kNever;
  StreamBase* late = nullptr;
  do {
    late = nullptr;
    streams_.forEach([&](StreamBase& stream) {
      if (stream.flush_deadline_ <= now) {
        late = &stream;
      } else {
        flush_check_ = std::min(flush_check_, stream.flush_deadline_);
      }
    });
    if (late) {
      stats_.add(Counter::TxFlushTimeout);
      reset(*late, ErrorCode::InternalError);
    }
  } while (late && isOpen());
}

// ---- pings ----

void Session::beginKeepalive() {
  if (options_.ping_interval_ms == 0 || ping_at_ != net::kNever || ping_deadline_ != net::kNever) {
    return;
  }
  schedulePing();
}

void Session::schedulePing() {
  net::Millis wait = options_.ping_interval_ms;
  if (options_.ping_jitter_ms > 0) {
    // Any clock will do to keep peers from asking at once.
    wait += net::Loop::readClockMicros() % options_.ping_jitter_ms;
  }
  ping_at_ = loop().now() + wait;
  rearm();
}

void Session::ping() {
  if (ping_deadline_ != net::kNever) return;
  char payload[8];
  write32(write32(payload, 0x6661726c), static_cast<uint32_t>(loop().now()));
  sendFrame(FrameType::Ping, 0, 0, {payload, sizeof(payload)});
  ping_deadline_ = loop().now() + options_.ping_timeout_ms;
  rearm();
}

void Session::onPong() {
  if (ping_deadline_ == net::kNever) return;
  ping_deadline_ = net::kNever;
  if (options_.ping_interval_ms > 0) schedulePing();
}

}  // namespace fairlead::http2
