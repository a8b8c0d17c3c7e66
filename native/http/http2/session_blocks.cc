// HEADERS and CONTINUATION: where blocks of fields begin, go on and end.
#include <utility>

#include "http/http2/session.h"

namespace fairlead::http2 {

void Session::onHeadersFrame(const FrameHead& head, std::string_view payload) {
  // What came of a body has been taken.
  counted_of_frame_ = 0;
  const auto invalid = [this] {
    fail(ErrorCode::ProtocolError, "HEADERS: invalid padding", "http2.invalid_padding");
  };
  if (head.stream == 0) {
    failSilently("http2.headers_without_stream");
    return;
  }
  if (head.has(flags::kPadded)) {
    if (payload.empty()) {
      fail(ErrorCode::ProtocolError, "HEADERS: insufficient padding space",
           "http2.invalid_padding");
      return;
    }
    const auto padding = static_cast<uint8_t>(payload[0]);
    payload.remove_prefix(1);
    if (padding > payload.size()) return invalid();
    payload.remove_suffix(padding);
  }
  depends_on_itself_ = false;
  if (head.has(flags::kPriority)) {
    if (payload.size() < 5) {
      fail(ErrorCode::FrameSizeError, {}, "http2.frame_size_error");
      return;
    }
    depends_on_itself_ = (read32(payload.data()) & kMostStreamId) == head.stream;
    payload.remove_prefix(5);
  }
  countEmpty(payload.empty() && !head.has(flags::kEndStream), head.stream);
  if (!isReading()) return;
  block_ends_ = head.has(flags::kEndStream);
  const std::optional<Message> message = beginBlockOf(head.stream);
  if (!isReading()) return;
  if (!head.has(flags::kEndHeaders)) {
    beginOpenBlock(head.stream, message, payload, head.length);
  } else if (message) {
    onFields(head.stream, {.bytes = payload, .wire_bytes = head.length}, block_ends_);
  } else {
    ignoreBlock(payload);
  }
}

// What a block of that stream is; nothing: one that nobody wants, or the connection has failed.
std::optional<Message> Session::beginBlockOf(uint32_t id) {
  StreamBase* const stream = find(id);
  if (stream && stream->remote_ended_) {
    failSilently(kUnknownError, id);
    return std::nullopt;
  }
  if (!stream && !isIdleId(id)) {
    if (mayBeLate(id)) return std::nullopt;
    if (hasClosed(id)) {
      failSilently("http2.stream_closed");
    } else {
      fail(ErrorCode::ProtocolError, "HEADERS: stream closed", "http2.stream_closed");
    }
    return std::nullopt;
  }
  if (!stream && depends_on_itself_ && side_ == Side::Server) {
    failSilently("http2.depends_on_itself");
    return std::nullopt;
  }
  endReadUnless(stream);
  return onBlockBegin(id);
}

void Session::beginOpenBlock(uint32_t id, std::optional<Message> message, std::string_view piece,
                             size_t frame_bytes) {
  block_stream_ = id;
  block_ = std::make_unique<OpenBlock>(message.value_or(Message::Trailers), message.has_value(),
                                       limits_, options_);
  takeOfBlock(piece, frame_bytes);
}

void Session::onContinuation(const FrameHead& head, std::string_view payload) {
  if (block_stream_ == 0) {
    fail(ErrorCode::ProtocolError, "CONTINUATION: unexpected", "http2.continuation_unexpected");
    return;
  }
  countEmpty(payload.empty() && !head.has(flags::kEndHeaders), head.stream);
  if (!isReading()) return;
  takeOfBlock(payload, head.length);
  if (!isReading() || !head.has(flags::kEndHeaders)) return;
  const std::unique_ptr<OpenBlock> block = std::move(block_);
  const uint32_t id = std::exchange(block_stream_, 0);
  if (block->isWanted()) {
    onBlock(id, block->message(),
            {.bytes = {}, .open = block.get(), .wire_bytes = block->wireBytes()});
  } else if (block->isCutOff()) {
    failUndecodable();
  }
}

// What is wrong is told at once: the peer may never end the block.
void Session::takeOfBlock(std::string_view piece, size_t frame_bytes) {
  const bool is_decodable = block_->take(decoder_, piece, frame_bytes);
  const uint32_t id = block_stream_;
  if (const ReadHead* fault = block_->takeFault()) {
    const ReadHead read = *fault;
    const Message message = block_->message();
    endReadUnless(find(id));
    if (message == Message::Request || find(id)) onFaultyFields(id, read, block_ends_);
  }
  if (!is_decodable && isReading()) failUndecodable();
}

// One that came in pieces: its stream may have ended since it began.
void Session::onBlock(uint32_t id, Message message, const Block& block) {
  endReadUnless(find(id));
  if (message == Message::Request || find(id)) onFields(id, block, block_ends_);
}

void Session::ignoreBlock(std::string_view block) {
  http::RequestHead& scratch = scratch_.request;
  readFields({.bytes = block}, Message::Trailers, scratch.headers, scratch.joined);
}

ReadHead Session::readFields(const Block& block, Message message, http::HeaderMap& headers,
                             Arena& arena) {
  ReadHead head;
  if (block.open) {
    arena.reset();
    head = block.open->finish(&headers);
  } else {
    head = readHead(decoder_, block.bytes, message, limits_, options_, headers, arena);
  }
  // Of a request: once there is a stream to tell of it.
  if (head.result == ReadHead::Result::Undecodable && message != Message::Request)
    failUndecodable();
  return head;
}

// In the real server's words.
void Session::failUndecodable() {
  fail(ErrorCode::CompressionError, {}, "codec_error:The user callback function failed");
}

void Session::countTooLarge(const ReadHead& head) {
  stats_.add(head.is_count ? Counter::HeaderOverflow : Counter::HeaderListSizeTooLarge);
}

}  // namespace fairlead::http2
