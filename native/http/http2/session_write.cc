// What a session writes: blocks of fields, bodies as windows let them, and frames about the
// connection.
#include <algorithm>

#include "http/http2/session.h"

namespace fairlead::http2 {

namespace {

// Of a body: less is cheaper to copy than to send by itself.
constexpr size_t kLeastGathered = 4 * 1024;
// Of TLS. Less room than this at its end is not worth a frame.
constexpr uint32_t kRecordBytes = 16 * 1024;
constexpr uint32_t kLeastAtEnd = 1024;
// Of a frame about the connection or a stream, behind its head: an end with the longest of its
// texts.
constexpr size_t kMostControlBytes = 80;

}  // namespace

// ---- frames ----

// Behind what is gathered.
void Session::queue(std::string_view bytes) {
  sendGathered();
  connection_.queue(bytes);
}

void Session::out(std::string_view bytes, bool is_control) {
  queue(bytes);
  countOut(is_control);
}

void Session::countOut(bool is_control) {
  const uint64_t written = connection_.writtenBytes();
  const net::OutBatch& batch = scratch_.batch;
  const size_t gathered = batch.isOf(connection_) ? batch.size() : 0;
  const size_t pending = connection_.pendingBytes() + gathered;
  outbound_.add(is_control, written, written + pending);
  if (outbound_.all() > options_.max_outbound_frames) {
    overflow(Counter::OutboundFlood, "http2.outbound_frames_flood");
  } else if (outbound_.control() > options_.max_outbound_control_frames) {
    overflow(Counter::OutboundControlFlood, "http2.outbound_control_frames_flood");
  }
}

void Session::sendFrame(FrameType type, uint8_t flags, uint32_t id, std::string_view payload) {
  FL_CHECK(payload.size() <= kMostControlBytes);
  char frame[kFrameHeadBytes + kMostControlBytes];
  char* const to = writeFrameHead(frame, static_cast<uint32_t>(payload.size()), type, flags, id);
  std::copy(payload.begin(), payload.end(), to);
  out({frame, kFrameHeadBytes + payload.size()},
      (flags & flags::kAck) != 0 || type == FrameType::RstStream);
}

void Session::begin() {
  if (begun_) return;
  begun_ = true;
  if (side_ == Side::Client) queue(kPreface);
  // As the real server: who has one connection shows how many frames wait, be it none.
  showAsUsed(Gauge::OutboundFramesActive);
  sendSettings();
}

void Session::sendSettings() {
  std::string payload;
  const auto add = [&payload](uint16_t id, uint32_t value) {
    char setting[6];
    write32(write16(setting, id), value);
    payload.append(setting, sizeof(setting));
  };
  const auto add_known = [&](SettingId id, uint32_t value) {
    add(static_cast<uint16_t>(id), value);
  };
  // In the order of the real server.
  if (side_ == Side::Client) add_known(SettingId::EnablePush, 0);
  for (const plan::Http2Setting& setting : options_.custom_settings) {
    add(static_cast<uint16_t>(setting.id), setting.value);
    if (setting.id == static_cast<uint32_t>(SettingId::MaxFrameSize)) {
      max_frame_bytes_ = setting.value;
    }
  }
  add_known(SettingId::HeaderTableSize, options_.header_table_bytes);
  add_known(SettingId::EnableConnectProtocol, options_.allow_connect ? 1 : 0);
  add_known(SettingId::MaxConcurrentStreams, options_.max_concurrent_streams);
  add_known(SettingId::InitialWindowSize, options_.stream_window_bytes);
  char head[kFrameHeadBytes];
  writeFrameHead(head, static_cast<uint32_t>(payload.size()), FrameType::Settings, 0, 0);
  queue({head, sizeof(head)});
  out(payload, false);
}

// After what answers the peer's own settings, and before anything of a stream.
void Session::announceWindow() {
  if (window_announced_) return;
  window_announced_ = true;
  const uint32_t wanted = std::max(options_.connection_window_bytes, kDefaultWindow);
  if (wanted > kDefaultWindow) sendWindowUpdate(0, wanted - kDefaultWindow);
  receive_window_ += wanted - kDefaultWindow;
}

void Session::sendReset(uint32_t id, ErrorCode code) {
  char payload[4];
  write32(payload, static_cast<uint32_t>(code));
  sendFrame(FrameType::RstStream, 0, id, {payload, sizeof(payload)});
  stats_.add(Counter::TxReset);
}

void Session::sendWindowUpdate(uint32_t id, uint32_t bytes) {
  char payload[4];
  write32(payload, bytes);
  sendFrame(FrameType::WindowUpdate, 0, id, {payload, sizeof(payload)});
}

void Session::goAway(uint32_t last_stream, ErrorCode code, std::string_view text) {
  char payload[kMostControlBytes];
  char* to = write32(write32(payload, last_stream), static_cast<uint32_t>(code));
  text = text.substr(0, sizeof(payload) - 8);
  to = std::copy(text.begin(), text.end(), to);
  sendFrame(FrameType::GoAway, 0, 0, {payload, static_cast<size_t>(to - payload)});
  if (last_stream < kMostStreamId) goaway_sent_ = true;
}

// ---- blocks of fields ----

char* Session::beginBlock(size_t most) {
  announceWindow();
  sendGathered();
  // Memory beside what is gathered for others: it is queued before anything else is written there.
  char* const frame =
      scratch_.batch.reserve(kFrameHeadBytes + HpackEncoder::kMostBeginBytes + most);
  return frame + kFrameHeadBytes;
}

size_t Session::writeBlock(StreamBase& stream, char* begin, char* end, bool end_stream) {
  const size_t written = writeFrames(stream, begin, end, end_stream);
  if (end_stream) afterLocalEnd(stream);
  return written;
}

size_t Session::writeFrames(const StreamBase& stream, char* begin, char* end, bool end_stream) {
  const auto size = static_cast<size_t>(end - begin);
  const uint32_t most = peer_.max_frame_bytes;
  const uint8_t end_flag = end_stream ? flags::kEndStream : 0;
  size_t written = 0;
  for (size_t at = 0; at < size || at == 0;) {
    const size_t piece = std::min<size_t>(size - at, most);
    const uint8_t last = at + piece == size ? flags::kEndHeaders : 0;
    // In the place before the piece, where nothing is that is still needed.
    char* const frame = begin + at - kFrameHeadBytes;
    const FrameType type = at == 0 ? FrameType::Headers : FrameType::Continuation;
    writeFrameHead(frame, static_cast<uint32_t>(piece), type,
                   static_cast<uint8_t>(last | (at == 0 ? end_flag : 0)), stream.id_);
    out({frame, kFrameHeadBytes + piece}, false);
    written += kFrameHeadBytes + piece;
    at += piece;
    if (piece == 0) break;
  }
  return written;
}

void Session::sendTrailers(StreamBase& stream, const http::HeaderMap& trailers) {
  sendGathered();
  if (!stream.pending_.empty()) {
    stream.trailers_ = std::make_unique<SavedFields>();
    stream.trailers_->save(trailers);
    stream.end_pending_ = true;
    watchFlush(stream);
    return;
  }
  writeTrailers(stream, trailers);
}

void Session::writeTrailers(StreamBase& stream, const http::HeaderMap& trailers) {
  size_t most = 0;
  for (const http::HeaderEntry& entry : trailers) {
    most += HpackEncoder::mostBytes(entry.name_size, entry.value_size);
  }
  char* const begin = beginBlock(most);
  char* to = encoder_.begin(begin);
  uint32_t plain_bytes = 0;
  for (const http::HeaderEntry& entry : trailers) {
    if (entry.name_size == 0) continue;
    to = encoder_.write({entry.id, entry.name(), entry.value()}, to);
    plain_bytes += static_cast<uint32_t>(entry.name_size + entry.value_size);
  }
  const size_t written = writeFrames(stream, begin, to, true);
  if (http::ByteMeter* const meter = stream.meter()) {
    meter->wire_sent += written;
    meter->header_sent += static_cast<uint32_t>(written);
    meter->plain_sent += plain_bytes;
  }
  // Who has the account may be gone with the end.
  afterLocalEnd(stream);
}

// ---- bodies ----

void Session::sendData(StreamBase& stream, std::string_view data, bool end) {
  announceWindow();
  const bool is_behind = !stream.pending_.empty();
  const size_t sent = is_behind ? 0 : sendNow(stream, data, end);
  // Nobody asks for what is gathered once the end has come, and that may come by itself.
  if (end) sendGathered();
  if (!is_behind && sent == data.size()) return;
  const std::string_view rest = data.substr(sent);
  stream.pending_.append(loop().slabs(), rest);
  stats_.up(Gauge::PendingSendBytes, rest.size());
  stream.end_pending_ = end;
  if (stream.pending_.size() > buffer_limit_) stream.behind_ = true;
  watchFlush(stream);
  wantToSend(stream);
}

void Session::watchFlush(const StreamBase& stream) {
  if (stream.flush_deadline_ >= flush_check_) return;
  flush_check_ = stream.flush_deadline_;
  rearm();
}

// As much as windows and the connection's queue take. With `end` and all of it, the end.
size_t Session::sendNow(StreamBase& stream, std::string_view data, bool end) {
  http::ByteMeter* const meter = stream.meter();
  size_t sent = 0;
  while (sent < data.size() || (end && data.empty())) {
    const int64_t window = std::min(stream.send_window_, send_window_);
    size_t piece = std::min<size_t>(data.size() - sent, mostInFrame());
    if (piece > 0) {
      if (window <= 0 || connection_.isOverHighWatermark()) return sent;
      piece = std::min<size_t>(piece, static_cast<size_t>(window));
    }
    const bool is_last = end && sent + piece == data.size();
    writeData(stream, data.substr(sent, piece), is_last);
    countOut(false);
    if (meter) meter->wire_sent += kFrameHeadBytes + piece;
    sent += piece;
    if (is_last) {
      afterLocalEnd(stream);
      return sent;
    }
  }
  return sent;
}

// Frames of TLS end with their records, so that long bodies leave in full ones.
uint32_t Session::mostInFrame() const {
  if (!connection_.transport()) return peer_.max_frame_bytes;
  const net::OutBatch& batch = scratch_.batch;
  const size_t before = connection_.pendingBytes() + (batch.isOf(connection_) ? batch.size() : 0);
  const uint32_t room = kRecordBytes - static_cast<uint32_t>(before % kRecordBytes);
  return room < kLeastAtEnd ? peer_.max_frame_bytes
                            : std::min<uint32_t>(peer_.max_frame_bytes, room - kFrameHeadBytes);
}

void Session::writeData(StreamBase& stream, std::string_view data, bool is_last) {
  if (data.size() < kLeastGathered || !connection_.takesNow()) {
    writeDataHead(stream, data.size(), is_last);
    if (!data.empty()) connection_.queue(data);
    return;
  }
  net::OutBatch& batch = scratch_.batch;
  batch.claim(connection_);
  if (batch.isAlmostFull()) connection_.send(batch);
  batch.commit(writeFrameHead(batch.reserve(kFrameHeadBytes), static_cast<uint32_t>(data.size()),
                              FrameType::Data, is_last ? flags::kEndStream : 0, stream.id_));
  batch.addView(data);
  noteData(stream, data.size());
}

void Session::writeDataHead(StreamBase& stream, size_t bytes, bool is_last) {
  char head[kFrameHeadBytes];
  writeFrameHead(head, static_cast<uint32_t>(bytes), FrameType::Data,
                 is_last ? flags::kEndStream : 0, stream.id_);
  queue({head, sizeof(head)});
  noteData(stream, bytes);
}

void Session::noteData(StreamBase& stream, size_t bytes) {
  stream.send_window_ -= static_cast<int32_t>(bytes);
  send_window_ -= static_cast<int32_t>(bytes);
  if (data_frames_sent_++ == 0) showAsUsed(Gauge::PendingSendBytes);
}

void Session::wantToSend(StreamBase& stream) {
  if (!stream.isLinked() && !stream.pending_.empty() && stream.send_window_ > 0) {
    senders_.pushBack(&stream);
  }
}

// One frame of each in turn.
void Session::pump() {
  if (pumping_) return;
  pumping_ = true;
  while (isOpen() && send_window_ > 0 && !connection_.isOverHighWatermark()) {
    StreamBase* const stream = senders_.popFront();
    if (!stream) break;
    sendPending(*stream);
  }
  pumping_ = false;
}

void Session::sendPending(StreamBase& stream) {
  iovec parts[2];
  const int count = stream.pending_.gather(parts, 2);
  size_t here = 0;
  for (int i = 0; i < count; ++i) here += parts[i].iov_len;
  const auto window = static_cast<size_t>(std::min(stream.send_window_, send_window_));
  const size_t piece = std::min({here, window, size_t{peer_.max_frame_bytes}});
  const bool is_last = stream.end_pending_ && !stream.trailers_ && piece == stream.pending_.size();
  writeDataHead(stream, piece, is_last);
  size_t left = piece;
  for (int i = 0; i < count && left > 0; ++i) {
    const size_t part = std::min(left, parts[i].iov_len);
    connection_.queue({static_cast<const char*>(parts[i].iov_base), part});
    left -= part;
  }
  countOut(false);
  if (http::ByteMeter* meter = stream.meter()) meter->wire_sent += kFrameHeadBytes + piece;
  stream.pending_.consume(loop().slabs(), piece);
  stats_.down(Gauge::PendingSendBytes, piece);
  if (stream.flush_deadline_ != net::kNever) {
    stream.flush_deadline_ = loop().now() + stream.flush_timeout_ms_;
  }
  if (is_last) {
    afterLocalEnd(stream);
    return;
  }
  if (stream.pending_.empty() && stream.trailers_) {
    const std::unique_ptr<SavedFields> saved = std::move(stream.trailers_);
    // No head is being read now.
    http::HeaderMap& headers = scratch_.request.headers;
    saved->restore(&headers);
    writeTrailers(stream, headers);
    return;
  }
  wantToSend(stream);
  if (stream.behind_ && stream.pending_.size() <= buffer_limit_ / 2 &&
      !connection_.isOverHighWatermark()) {
    stream.behind_ = false;
    stream.onWritable();
  }
}

// ---- ends ----

void Session::afterLocalEnd(StreamBase& stream) {
  stream.local_ended_ = true;
  stream.end_pending_ = false;
  stream.flush_deadline_ = net::kNever;
  if (stream.remote_ended_) {
    remove(stream, false);
  } else if (stream.reset_after_ >= 0) {
    lateReset(stream);
  }
}

// The rest of what the peer sends is not wanted; but what is short is on its way already, and then
// there is nothing to be reset.
void Session::lateReset(StreamBase& stream) {
  late_resets_.pushBack(&stream);
  if (late_resets_at_ != net::kNever) return;
  late_resets_at_ = loop().now() + 1;
  rearm();
}

void Session::reset(StreamBase& stream, ErrorCode code) {
  sendReset(stream.id_, code);
  remove(stream, true);
}

void Session::resetAfterEnd(StreamBase& stream, ErrorCode code) {
  stream.reset_after_ = static_cast<int8_t>(code);
  if (stream.local_ended_) lateReset(stream);
}

// ---- what is given back ----

void Session::useUp(StreamBase* stream, uint32_t bytes) {
  if (stream && stream->read_pauses_ > 0) {
    stream->held_ += bytes;
    return;
  }
  consumed_ += bytes;
  if (stream) giveBack(*stream, bytes);
}

void Session::giveBack(StreamBase& stream, uint32_t bytes) {
  stream.consumed_ += bytes;
  if (stream.remote_ended_ || stream.consumed_ < std::max(options_.stream_window_bytes / 2, 1u)) {
    return;
  }
  stream.receive_window_ += static_cast<int32_t>(stream.consumed_);
  sendWindowUpdate(stream.id_, std::exchange(stream.consumed_, 0));
}

void Session::giveBackConnection() {
  const uint32_t window = std::max(options_.connection_window_bytes, kDefaultWindow);
  if (consumed_ < window / 2) return;
  receive_window_ += consumed_;
  sendWindowUpdate(0, std::exchange(consumed_, 0));
}

void Session::resumeReading(StreamBase& stream) {
  FL_DCHECK(stream.read_pauses_ > 0);
  if (--stream.read_pauses_ > 0 || stream.held_ == 0) return;
  const uint32_t held = std::exchange(stream.held_, 0);
  consumed_ += held;
  giveBack(stream, held);
  giveBackConnection();
}

}  // namespace fairlead::http2
