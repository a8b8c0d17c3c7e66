// A session's way in: bytes to frames, frames to what they mean.
#include <algorithm>
#include <cstring>

#include "http/http2/session.h"

namespace fairlead::http2 {

using ReadResult = net::Connection::ReadResult;

namespace {

// What is kept of a frame whose rest has not come is put before the next read, in its buffer, as
// long as there is room for more than that.
constexpr size_t kMostHeadroom = 24 * 1024;

}  // namespace

// ---- bytes ----

void Session::onReadable() {
  while (isOpen() && !connection_.isReadingPaused() && !mustWaitForPeer()) {
    if (!connection_.isReadable()) break;
    const size_t kept = leftover_ ? leftover_->size() : 0;
    const bool fits = kept <= kMostHeadroom;
    const net::Connection::Read got = connection_.read(fits ? kept : 0);
    if (got.result == ReadResult::Nothing) break;
    if (got.result != ReadResult::Data) {
      peerEnded();
      return;
    }
    if (phase_ == Phase::Lingering) {
      // Thrown away, and not counted.
      connection_.uncountRead(got.size);
      continue;
    }
    if (kept == 0) {
      received(got.data, got.size);
    } else if (fits) {
      const std::unique_ptr<std::string> before = std::move(leftover_);
      std::memcpy(got.data - kept, before->data(), kept);
      received(got.data - kept, kept + got.size);
    } else {
      const std::unique_ptr<std::string> all = std::move(leftover_);
      all->append(got.data, got.size);
      received(all->data(), all->size());
    }
  }
}

void Session::take(std::string_view bytes) { received(bytes.data(), bytes.size()); }

void Session::received(const char* data, size_t size) {
  if (!mayLookAtRead()) return;
  consuming_ = true;
  const size_t used = consume(data, size);
  consuming_ = false;
  if (isReading()) {
    endReadOf();
    if (used < size) leftover_ = std::make_unique<std::string>(data + used, size - used);
  }
  if (isReading()) {
    // A server has begun with the first bytes that it read.
    if (phase_ == Phase::Open || side_ == Side::Server) announceWindow();
    giveBackConnection();
  }
  if (isOpen()) onMoved();
}

size_t Session::consume(const char* data, size_t size) {
  size_t used = 0;
  while (used < size && isReading()) {
    size_t step = 0;
    if (phase_ == Phase::Preface) {
      step = consumePreface(data, size);
    } else if (in_data_) {
      step = consumeData(data + used, size - used);
    } else {
      step = consumeFrame(data + used, size - used);
    }
    if (step == 0) break;
    used += step;
  }
  return used;
}

size_t Session::consumePreface(const char* data, size_t size) {
  const size_t common = std::min(size, kPreface.size());
  if (std::memcmp(data, kPreface.data(), common) != 0) {
    failSilently("http2.bad_preface");
    return size;
  }
  // As the real server: whoever chose this codec knows what is spoken.
  begin();
  if (common < kPreface.size()) return 0;
  phase_ = Phase::Settings;
  return common;
}

size_t Session::consumeFrame(const char* data, size_t size) {
  if (size < kFrameHeadBytes) return 0;
  const FrameHead head = readFrameHead(data);
  if (!checkHead(head)) return size;
  if (head.type == FrameType::Data) return beginData(head, data, size);
  const size_t whole = kFrameHeadBytes + head.length;
  if (size < whole) return 0;
  onFrame(head, {data + kFrameHeadBytes, head.length});
  return whole;
}

// What holds for frames of any kind. False: the connection has failed.
bool Session::checkHead(const FrameHead& head) {
  if (phase_ == Phase::Settings &&
      (head.type != FrameType::Settings || head.has(flags::kAck) || head.stream != 0)) {
    fail(ErrorCode::ProtocolError, "SETTINGS expected", "http2.settings_expected");
    return false;
  }
  if (head.length > max_frame_bytes_) {
    fail(ErrorCode::FrameSizeError, "too large frame size", "http2.frame_size_error");
    return false;
  }
  if (block_stream_ != 0 &&
      (head.type != FrameType::Continuation || head.stream != block_stream_)) {
    fail(ErrorCode::ProtocolError, "unexpected non-CONTINUATION frame or stream_id is invalid",
         "http2.continuation_expected");
    return false;
  }
  return true;
}

void Session::onFrame(const FrameHead& head, std::string_view payload) {
  switch (head.type) {
    case FrameType::Headers:
      onHeadersFrame(head, payload);
      return;
    case FrameType::Priority:
      onPriority(head, payload);
      return;
    case FrameType::RstStream:
      onRstStream(head, payload);
      return;
    case FrameType::Settings:
      onSettings(head, payload);
      return;
    case FrameType::PushPromise:
      if (side_ == Side::Server) {
        failSilently(kUnknownError, head.stream);
      } else {
        failSilently("http2.push_promise");
      }
      return;
    case FrameType::Ping:
      onPing(head, payload);
      return;
    case FrameType::GoAway:
      onGoAwayFrame(head, payload);
      return;
    case FrameType::WindowUpdate:
      onWindowUpdate(head, payload);
      return;
    case FrameType::Continuation:
      onContinuation(head, payload);
      return;
    case FrameType::Data:
      return;
  }
  // Of a kind that nobody knows: ignored (4.1).
}

// Nobody has used the number yet: neither may anything be said of its stream.
bool Session::isIdleId(uint32_t id) const { return id % 2 == 0 || id > last_stream_; }

// Frames without payload that end nothing cost, and bring nothing.
void Session::countEmpty(bool is_empty, uint32_t id) {
  empty_frames_ = is_empty ? empty_frames_ + 1 : 0;
  if (empty_frames_ <= options_.max_empty_frames) return;
  stats_.add(Counter::InboundEmptyFramesFlood);
  flooded("http2.inbound_empty_frames_flood", id);
}

// ---- DATA: its bytes go on as they come ----

size_t Session::beginData(const FrameHead& head, const char* data, size_t size) {
  const bool is_padded = head.has(flags::kPadded);
  size_t used = kFrameHeadBytes;
  uint32_t padding = 0;
  if (head.stream == 0) {
    fail(ErrorCode::ProtocolError, "DATA: stream_id == 0", "http2.data_without_stream");
    return size;
  }
  if (isIdleId(head.stream)) {
    fail(ErrorCode::ProtocolError, "DATA: stream in idle", "http2.data_on_idle_stream");
    return size;
  }
  if (is_padded) {
    if (head.length == 0) {
      fail(ErrorCode::ProtocolError, "DATA: insufficient padding space", "http2.invalid_padding");
      return size;
    }
    if (size < used + 1) return 0;
    padding = static_cast<uint8_t>(data[used]);
    ++used;
  }
  if (is_padded && padding + 1 > head.length) {
    fail(ErrorCode::ProtocolError, "DATA: invalid padding", "http2.invalid_padding");
    return size;
  }
  if (int64_t{head.length} > receive_window_) {
    fail(ErrorCode::FlowControlError, {}, "http2.flow_control_error");
    return size;
  }
  receive_window_ -= head.length;
  counted_of_frame_ = 0;
  data_left_ = head.length - padding - (is_padded ? 1 : 0);
  padding_left_ = padding;
  data_ends_ = head.has(flags::kEndStream);
  data_stream_ = head.stream;
  in_data_ = true;
  countEmpty(data_left_ == 0 && !data_ends_, head.stream);
  if (!isReading()) return size;
  StreamBase* const stream = find(head.stream);
  if (!stream) {
    if (!mayBeLate(head.stream)) streamError(head.stream, ErrorCode::StreamClosed, {});
  } else if (stream->remote_ended_) {
    fail(ErrorCode::StreamClosed, "DATA: stream in half-closed(remote)", "http2.stream_closed");
    return size;
  } else if (!stream->head_received_) {
    // A host's body without an answer: to the real server no state that a stream can be in.
    fail(ErrorCode::ProtocolError, "DATA: stream not in valid state", "http2.data_before_head");
    return size;
  } else if (static_cast<int64_t>(head.length) > stream->receive_window_) {
    streamError(head.stream, ErrorCode::FlowControlError, "http2.flow_control_error");
  } else {
    stream->receive_window_ -= static_cast<int32_t>(head.length);
    if (http::ByteMeter* meter = stream->meter()) {
      counted_of_frame_ = static_cast<uint32_t>(used) + padding;
      meter->wire_received += counted_of_frame_;
    }
    if (is_padded) useUp(stream, padding + 1);
  }
  if (!find(head.stream) && is_padded) useUp(nullptr, padding + 1);
  if (data_left_ == 0 && padding_left_ == 0) endData();
  return used;
}

size_t Session::consumeData(const char* data, size_t size) {
  const auto piece = static_cast<uint32_t>(std::min<size_t>(size, data_left_));
  if (piece > 0) {
    data_left_ -= piece;
    tellData({data, piece});
    if (!isReading()) return size;
  }
  const auto padding =
      data_left_ == 0 ? static_cast<uint32_t>(std::min<size_t>(size - piece, padding_left_)) : 0;
  padding_left_ -= padding;
  if (data_left_ == 0 && padding_left_ == 0) endData();
  return piece + padding;
}

void Session::tellData(std::string_view data) {
  const auto bytes = static_cast<uint32_t>(data.size());
  StreamBase* const stream = find(data_stream_);
  if (!stream) {
    useUp(nullptr, bytes);
    return;
  }
  if (http::ByteMeter* meter = stream->meter()) {
    counted_of_frame_ += bytes;
    meter->wire_received += bytes;
  }
  stream->body_bytes_ += bytes;
  if (stream->length_left_ != StreamBase::kNoLength) {
    if (bytes > stream->length_left_) {
      useUp(nullptr, bytes);
      wrongLength(data_stream_);
      return;
    }
    stream->length_left_ -= bytes;
  }
  const bool ends = data_ends_ && data_left_ == 0 && padding_left_ == 0;
  if (ends && !isWholeAtEnd(*stream)) {
    wrongLength(data_stream_);
    return;
  }
  const uint32_t id = data_stream_;
  telling(*stream);
  if (ends) {
    // Its end goes along with the last bytes.
    data_ends_ = false;
    stream->remote_ended_ = true;
  }
  stream->onData(data, ends);
  if (!isOpen()) return;
  StreamBase* const still = find(id);
  useUp(still, bytes);
  if (still && ends && still->local_ended_) remove(*still, false);
}

void Session::endData() {
  in_data_ = false;
  if (!data_ends_ || !isReading()) return;
  data_ends_ = false;
  StreamBase* const stream = find(data_stream_);
  if (!stream) return;
  if (!isWholeAtEnd(*stream)) {
    wrongLength(data_stream_);
    return;
  }
  telling(*stream);
  stream->remote_ended_ = true;
  stream->onData({}, true);
  if (!isOpen()) return;
  if (StreamBase* still = find(data_stream_); still && still->local_ended_) remove(*still, false);
}

}  // namespace fairlead::http2
