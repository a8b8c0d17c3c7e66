// What frames but DATA and those of fields mean to a session: about one stream, and about all.
#include <algorithm>
#include <utility>

#include "http/http2/session.h"

namespace fairlead::http2 {

using http::ResetReason;

namespace {

constexpr uint32_t kSettingBytes = 6;
constexpr std::string_view kFrameSize = "http2.frame_size_error";

}  // namespace

// ---- errors of one stream ----

void Session::streamError(uint32_t id, ErrorCode code, std::string_view details) {
  sendReset(id, code);
  if (StreamBase* stream = find(id)) {
    tellReset(*stream, ResetReason::ProtocolError, details, true);
  } else {
    remember(id, true);
  }
}

// Of a body that is not as long as its head has said.
void Session::wrongLength(uint32_t id) {
  // As the real server, which counts frames that it has taken.
  StreamBase* const stream = id == data_stream_ ? find(id) : nullptr;
  if (http::ByteMeter* const meter = stream ? stream->meter() : nullptr) {
    meter->wire_received -= std::exchange(counted_of_frame_, 0);
  }
  streamError(id, ErrorCode::ProtocolError,
              side_ == Side::Client ? "http2.violation.of.messaging.rule" : "http2.remote_reset");
}

bool Session::isLengthRefused(const StreamBase& stream, const ReadHead& trailers) {
  if (trailers.length == ReadHead::kNoLength) return false;
  const bool is_repeated = stream.length_left_ != StreamBase::kNoLength;
  if (!is_repeated && trailers.length == stream.body_bytes_) return false;
  brokenMessage(stream.id(),
                is_repeated ? "http2.invalid.header.field" : "http2.violation.of.messaging.rule");
  return true;
}

// What came breaks the rules of HTTP: its stream ends, and unless only that is wanted, everything.
void Session::brokenMessage(uint32_t id, std::string_view details) {
  stats_.add(Counter::RxMessagingError);
  if (options_.only_resets_invalid) {
    streamError(id, ErrorCode::ProtocolError, details);
    return;
  }
  failSilently(details, id);
}

// ---- frames about a stream ----

void Session::onPriority(const FrameHead& head, std::string_view payload) {
  if (++priority_frames_ >
      uint64_t{options_.max_priority_frames_per_stream} * (1 + uint64_t{opened_streams_})) {
    stats_.add(Counter::InboundPriorityFramesFlood);
    flooded("http2.inbound_priority_frames_flood");
    return;
  }
  if (payload.size() != 5) {
    fail(ErrorCode::FrameSizeError, {}, kFrameSize);
    return;
  }
  // Unlike the real server, which takes either: RFC 9113, 6.3, and RFC 7540, 5.3.1.
  if (head.stream == 0) {
    fail(ErrorCode::ProtocolError, "PRIORITY: stream_id == 0", "http2.priority_without_stream");
  } else if ((read32(payload.data()) & kMostStreamId) == head.stream) {
    streamError(head.stream, ErrorCode::ProtocolError, "http2.depends_on_itself");
  }
}

void Session::onRstStream(const FrameHead& head, std::string_view payload) {
  if (head.stream == 0 || isIdleId(head.stream)) {
    failSilently("http2.reset_of_idle_stream");
    return;
  }
  if (payload.size() != 4) {
    fail(ErrorCode::FrameSizeError, {}, kFrameSize);
    return;
  }
  StreamBase* const stream = find(head.stream);
  if (!stream) return;
  stats_.add(Counter::RxReset);
  if (http::ByteMeter* meter = stream->meter()) {
    meter->wire_received += kFrameHeadBytes + payload.size();
  }
  const auto code = static_cast<ErrorCode>(read32(payload.data()));
  const bool is_refused = code == ErrorCode::RefusedStream;
  // As the real server, which takes the other end's finding for its own.
  const ResetReason reason = is_refused                         ? ResetReason::RemoteRefused
                             : code == ErrorCode::ProtocolError ? ResetReason::ProtocolError
                                                                : ResetReason::RemoteReset;
  onPeerReset(code);
  if (!isReading()) return;
  // As the real server, which has no word for a client that has asked and gives up without an
  // error.
  const bool is_silent =
      side_ == Side::Server && code == ErrorCode::NoError && stream->remote_ended_;
  tellReset(*stream, reason,
            is_silent    ? std::string_view()
            : is_refused ? "http2.remote_refuse"
                         : "http2.remote_reset",
            false);
}

void Session::onWindowUpdate(const FrameHead& head, std::string_view payload) {
  if (payload.size() != 4) {
    fail(ErrorCode::FrameSizeError, {}, kFrameSize);
    return;
  }
  if (head.stream != 0 && isIdleId(head.stream)) {
    failSilently("http2.window_of_idle_stream");
    return;
  }
  // As the real server has it: some for each stream, and for each frame that they may be about.
  const uint64_t allowed =
      5 + 2 * (uint64_t{opened_streams_} +
               uint64_t{options_.max_window_updates_per_data_frame} * data_frames_sent_);
  if (++window_updates_ > allowed) {
    stats_.add(Counter::InboundWindowUpdateFramesFlood);
    flooded("http2.inbound_window_update_frames_flood");
    return;
  }
  const uint32_t increment = read32(payload.data()) & kMostWindow;
  if (head.stream == 0) {
    if (increment == 0) {
      failSilently("http2.invalid_window_update");
      return;
    }
    // Unlike the real server, which says nothing: RFC 9113, 6.9.1.
    if (int64_t{send_window_} + increment > kMostWindow) {
      fail(ErrorCode::FlowControlError, "WINDOW_UPDATE: invalid increment",
           "http2.invalid_window_update");
      return;
    }
    send_window_ += static_cast<int32_t>(increment);
    pump();
    return;
  }
  StreamBase* const stream = find(head.stream);
  if (!stream) return;
  if (increment == 0) {
    failSilently(kUnknownError, head.stream);
    return;
  }
  // Unlike the real server, which ends the connection: RFC 9113, 6.9.1.
  if (int64_t{stream->send_window_} + increment > kMostWindow) {
    streamError(head.stream, ErrorCode::FlowControlError, "http2.invalid_window_update");
    return;
  }
  stream->send_window_ += static_cast<int32_t>(increment);
  wantToSend(*stream);
  pump();
}

// ---- frames about the connection ----

void Session::onSettings(const FrameHead& head, std::string_view payload) {
  if (head.stream != 0) {
    failSilently("http2.settings_on_stream");
    return;
  }
  if (head.has(flags::kAck)) {
    if (!payload.empty()) {
      fail(ErrorCode::FrameSizeError, {}, kFrameSize);
      return;
    }
    if (settings_acked_) {
      failSilently("http2.settings_expected");
      return;
    }
    decoder_.setMost(options_.header_table_bytes);
    settings_acked_ = true;
    return;
  }
  if (payload.size() % kSettingBytes != 0) {
    fail(ErrorCode::FrameSizeError, {}, kFrameSize);
    return;
  }
  if (phase_ == Phase::Settings) phase_ = Phase::Open;
  for (; !payload.empty(); payload.remove_prefix(kSettingBytes)) {
    if (!applySetting(read16(payload.data()), read32(payload.data() + 2))) return;
  }
  showAsUsed(Gauge::OutboundControlFramesActive);
  sendFrame(FrameType::Settings, flags::kAck, 0, {});
  onPeerSettings();
  pump();
}

// False: the connection has failed.
bool Session::applySetting(uint16_t id, uint32_t value) {
  const auto invalid = [this] {
    failSilently("http2.invalid_settings");
    return false;
  };
  switch (static_cast<SettingId>(id)) {
    case SettingId::HeaderTableSize:
      encoder_.setPeerLimit(value);
      return true;
    case SettingId::EnablePush:
      return value <= 1 && (side_ == Side::Server || value == 0) ? true : invalid();
    case SettingId::MaxConcurrentStreams:
      peer_.max_concurrent_streams = value;
      return true;
    case SettingId::InitialWindowSize:
      return (value <= kMostWindow && changeWindows(value)) || invalid();
    case SettingId::MaxFrameSize:
      if (value < kDefaultFrameBytes || value > kMostFrameBytes) {
        return invalid();
      }
      // More than a read brings would only make others wait for longer.
      peer_.max_frame_bytes = std::min<uint32_t>(value, 64 * 1024);
      return true;
    case SettingId::MaxHeaderListSize:
      return true;
    case SettingId::EnableConnectProtocol:
      if (value > 1) return invalid();
      peer_.enable_connect = value == 1;
      return true;
    case SettingId::NoRfc7540Priorities:
      // As the real server, which lets hosts say what they like.
      return side_ == Side::Client || value <= 1 || invalid();
  }
  return true;
}

// Of all streams, by what the initial one changes by (6.9.2). False: one would be too large.
bool Session::changeWindows(uint32_t initial) {
  const int64_t change = int64_t{initial} - peer_.initial_window;
  peer_.initial_window = initial;
  bool fits = true;
  streams_.forEach([&](StreamBase& stream) {
    const int64_t window = stream.send_window_ + change;
    fits &= window <= kMostWindow;
    stream.send_window_ = static_cast<int32_t>(std::min<int64_t>(window, kMostWindow));
    if (stream.pending_.empty()) return;
    if (stream.send_window_ <= 0) {
      stream.unlink();
    } else {
      wantToSend(stream);
    }
  });
  return fits;
}

void Session::onPing(const FrameHead& head, std::string_view payload) {
  if (head.stream != 0) {
    // Unlike the real server, which says nothing: RFC 9113, 5.4.1.
    fail(ErrorCode::ProtocolError, "PING: stream_id != 0", "http2.ping_on_stream");
    return;
  }
  if (payload.size() != 8) {
    fail(ErrorCode::FrameSizeError, {}, kFrameSize);
    return;
  }
  if (head.has(flags::kAck)) {
    onPong();
    return;
  }
  sendFrame(FrameType::Ping, flags::kAck, 0, payload);
}

void Session::onGoAwayFrame(const FrameHead& head, std::string_view payload) {
  if (head.stream != 0) {
    failSilently("http2.goaway_on_stream");
    return;
  }
  if (payload.size() < 8) {
    fail(ErrorCode::FrameSizeError, {}, kFrameSize);
    return;
  }
  endReadOf();
  onGoAway(read32(payload.data()) & kMostStreamId,
           static_cast<ErrorCode>(read32(payload.data() + 4)));
}

}  // namespace fairlead::http2
