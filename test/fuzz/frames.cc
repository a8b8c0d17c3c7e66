// Frames of any kind, one after the other, given to the reader of HTTP/2's frames alone, whose
// streams nobody opens: what it answers, and why it ends, is what a reference says of them that
// knows no more than RFC 9113 and what the real server does where that leaves it open.
#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "http/http2/session.h"
#include "test/native/http/http2/wire.h"

using namespace fairlead;
using namespace fairlead::http2;

namespace {

// What a reader answers, and the end of it.
struct Answers {
  uint32_t pongs = 0;
  uint32_t acks = 0;
  std::vector<uint32_t> resets;
  bool has_ended = false;
  // Of its GOAWAY; absent: it ended without a word, or not at all.
  std::optional<ErrorCode> error;
  // Of a reference: or without that word.
  bool may_be_silent = false;

  void fail(ErrorCode code) {
    has_ended = true;
    error = code;
  }
};

plan::Http2Options wideOptions() {
  plan::Http2Options options = defaultOptions();
  // A session counts towards these what streams were opened, which are none here.
  options.max_priority_frames_per_stream = 10'000;
  return options;
}

// ---- the reference ----

class Reference {
 public:
  Reference() { decoder_.setMostText(wideOptions().max_header_field_bytes); }

  const Answers& answers() const { return answers_; }

  // `bytes` come behind a client's beginning, and may end within a frame.
  void read(std::string_view bytes) {
    while (!answers_.has_ended && bytes.size() >= kFrameHeadBytes) {
      const auto at = [&](size_t i) { return uint32_t{static_cast<uint8_t>(bytes[i])}; };
      length_ = at(0) << 16 | at(1) << 8 | at(2);
      type_ = static_cast<FrameType>(at(3));
      flags_ = static_cast<uint8_t>(at(4));
      stream_ = (at(5) << 24 | at(6) << 16 | at(7) << 8 | at(8)) & kMostStreamId;
      bytes.remove_prefix(kFrameHeadBytes);
      if (length_ > kDefaultFrameBytes) return answers_.fail(ErrorCode::FrameSizeError);
      const bool continues = type_ == FrameType::Continuation;
      if (block_of_ != 0 && (!continues || stream_ != block_of_)) return protocolError();
      const bool is_whole = bytes.size() >= length_;
      if (type_ == FrameType::Data) {
        onData(bytes);
      } else if (is_whole) {
        onFrame(bytes.substr(0, length_));
      }
      if (!is_whole) return;
      bytes.remove_prefix(length_);
    }
  }

 private:
  static constexpr size_t kRemembered = 32;

  bool has(uint8_t flag) const { return (flags_ & flag) != 0; }
  bool isIdle(uint32_t id) const { return id % 2 == 0 || id > highest_; }
  bool wasReset(uint32_t id) const {
    return std::find(resets_.begin(), resets_.end(), id) != resets_.end();
  }
  void protocolError() { answers_.fail(ErrorCode::ProtocolError); }
  void endSilently() { answers_.has_ended = true; }
  void reset(uint32_t id) {
    answers_.resets.push_back(id);
    resets_.push_back(id);
    if (resets_.size() > kRemembered) resets_.pop_front();
  }
  void countEmpty(bool is_empty) {
    empty_ = is_empty ? empty_ + 1 : 0;
    if (empty_ > wideOptions().max_empty_frames) answers_.has_ended = true;
  }

  void onData(std::string_view there) {
    if (stream_ == 0 || isIdle(stream_)) return protocolError();
    uint32_t beside = 0;
    if (has(flags::kPadded)) {
      if (length_ == 0) return protocolError();
      if (there.empty()) return;
      beside = 1 + uint32_t{static_cast<uint8_t>(there[0])};
      if (beside > length_) return protocolError();
    }
    countEmpty(length_ == beside && !has(flags::kEndStream));
    if (!answers_.has_ended && !wasReset(stream_)) reset(stream_);
  }

  void onFrame(std::string_view payload) {
    switch (type_) {
      case FrameType::Data:
        return;
      case FrameType::Headers:
        return onHeaders(payload);
      case FrameType::Priority:
        if (payload.size() != 5) return answers_.fail(ErrorCode::FrameSizeError);
        if (stream_ == 0) return protocolError();
        if ((read32(payload.data()) & kMostStreamId) == stream_) reset(stream_);
        return;
      case FrameType::RstStream:
        if (stream_ == 0 || isIdle(stream_)) return endSilently();
        if (payload.size() != 4) answers_.fail(ErrorCode::FrameSizeError);
        return;
      case FrameType::Settings:
        return onSettings(payload);
      case FrameType::PushPromise:
        return endSilently();
      case FrameType::Ping:
        if (stream_ != 0) return protocolError();
        if (payload.size() != 8) return answers_.fail(ErrorCode::FrameSizeError);
        answers_.pongs += has(flags::kAck) ? 0 : 1;
        return;
      case FrameType::GoAway:
        if (stream_ != 0) return endSilently();
        if (payload.size() < 8) answers_.fail(ErrorCode::FrameSizeError);
        return;
      case FrameType::WindowUpdate:
        return onWindowUpdate(payload);
      case FrameType::Continuation:
        if (block_of_ == 0) return protocolError();
        countEmpty(payload.empty() && !has(flags::kEndHeaders));
        if (answers_.has_ended) return;
        onBlock(payload, false);
        return;
    }
  }

  void onHeaders(std::string_view payload) {
    if (stream_ == 0) return endSilently();
    if (has(flags::kPadded)) {
      if (payload.empty()) return protocolError();
      const auto padding = static_cast<uint8_t>(payload[0]);
      payload.remove_prefix(1);
      if (padding > payload.size()) return protocolError();
      payload.remove_suffix(padding);
    }
    is_own_parent_ = false;
    if (has(flags::kPriority)) {
      if (payload.size() < 5) return answers_.fail(ErrorCode::FrameSizeError);
      is_own_parent_ = (read32(payload.data()) & kMostStreamId) == stream_;
      payload.remove_prefix(5);
    }
    countEmpty(payload.empty() && !has(flags::kEndStream));
    if (answers_.has_ended) return;
    block_of_ = stream_;
    block_.clear();
    if (isIdle(stream_)) {
      if (is_own_parent_) return endSilently();
      highest_ = std::max(highest_, stream_);
    } else if (!wasReset(stream_)) {
      // A stream that is closed may be known as such, or not any more.
      protocolError();
      answers_.may_be_silent = true;
      return;
    }
    onBlock(payload, true);
  }

  // What is wrong with a block shows with the frame that has it.
  void onBlock(std::string_view piece, bool is_first) {
    block_ += piece;
    const bool ends = has(flags::kEndHeaders);
    if (!decodes(is_first) || (ends && !block_.empty())) {
      return answers_.fail(ErrorCode::CompressionError);
    }
    if (ends) block_of_ = 0;
  }

  // What ends amid a field stays.
  bool decodes(bool is_first) {
    Arena arena{1024};
    Field field;
    if (is_first) {
      decoder_.begin(block_);
    } else {
      decoder_.resume(block_);
    }
    for (;;) {
      const HpackDecoder::Step step = decoder_.next(arena, &field);
      if (step == HpackDecoder::Step::Field) continue;
      block_ = step == HpackDecoder::Step::Short ? std::string(decoder_.rest()) : std::string();
      return step != HpackDecoder::Step::Error;
    }
  }

  void onSettings(std::string_view payload) {
    if (stream_ != 0) return endSilently();
    if (has(flags::kAck)) {
      if (!payload.empty()) return answers_.fail(ErrorCode::FrameSizeError);
      // Settings are sent once.
      if (std::exchange(is_acked_, true)) endSilently();
      return;
    }
    if (payload.size() % 6 != 0) return answers_.fail(ErrorCode::FrameSizeError);
    for (; !payload.empty(); payload.remove_prefix(6)) {
      const uint32_t value = read32(payload.data() + 2);
      switch (read16(payload.data())) {
        case 2:
        case 8:
        case 9:
          answers_.has_ended |= value > 1;
          break;
        case 4:
          answers_.has_ended |= value > kMostWindow;
          break;
        case 5:
          answers_.has_ended |= value < kDefaultFrameBytes || value > kMostFrameBytes;
          break;
        default:
          break;
      }
      if (answers_.has_ended) return;
    }
    ++answers_.acks;
  }

  void onWindowUpdate(std::string_view payload) {
    if (payload.size() != 4) return answers_.fail(ErrorCode::FrameSizeError);
    if (stream_ != 0 && isIdle(stream_)) return endSilently();
    // No stream was opened, and no DATA sent, that more could be about.
    if (++window_updates_ > 5) {
      answers_.has_ended = true;
      return;
    }
    if (stream_ != 0) return;
    const uint32_t more = read32(payload.data()) & kMostWindow;
    if (more == 0) return endSilently();
    window_ += more;
    if (window_ > kMostWindow) answers_.fail(ErrorCode::FlowControlError);
  }

  Answers answers_;
  HpackDecoder decoder_{4096};
  // The frame that is read.
  uint32_t length_ = 0;
  FrameType type_ = FrameType::Data;
  uint8_t flags_ = 0;
  uint32_t stream_ = 0;

  uint32_t block_of_ = 0;
  std::string block_;
  bool is_own_parent_ = false;
  bool is_acked_ = false;
  uint32_t highest_ = 0;
  uint32_t empty_ = 0;
  uint32_t window_updates_ = 0;
  uint64_t window_ = kDefaultWindow;
  std::deque<uint32_t> resets_;
};

// ---- the reader ----

class Reader final : public Session {
 public:
  Reader(net::Connection& connection, const plan::Http2Options& options,
         const http::HeadLimits& limits, const http::CodecScratch& scratch,
         stats::Shard<stats::Http2Codec>& stats)
      : Session(Side::Server, connection, options, limits, scratch, stats) {
    connection.setHandler(*this);
  }
  ~Reader() { abort(); }
  void abort() { close(false, http::ResetReason::LocalReset, {}); }
  bool isBroken() const { return is_broken_; }

 private:
  std::optional<Message> onBlockBegin(uint32_t id) override {
    sawStream(id);
    return Message::Request;
  }
  void onFields(uint32_t, const Block& block, bool) override {
    http::RequestHead& head = scratch().request;
    const ReadHead read = readFields(block, Message::Request, head.headers, head.joined);
    if (read.result == ReadHead::Result::Undecodable) failUndecodable();
  }
  void onFaultyFields(uint32_t, const ReadHead&, bool) override {}
  void onLastStreamEnded() override {}
  void onMoved() override {}
  void onBroken(http::Breach, std::string_view details) override {
    FL_CHECK(!is_broken_ && !details.empty());
    is_broken_ = true;
  }
  void onOver(bool) override {}
  void release(StreamBase&) override { FL_CHECK(false); }

  bool is_broken_ = false;
};

class Peer {
 public:
  Peer() {
    int pair[2];
    FL_CHECK(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) == 0);
    fd_ = net::FileDescriptor(pair[0]);
    auto* connection = new net::Connection(loop_, net::FileDescriptor(pair[1]), 64 * 1024);
    reader_ = std::make_unique<Reader>(*connection, options_, limits_, scratch_, stats_);
    FL_CHECK(connection->start());
    send(std::string(kPreface) + frame(FrameType::Settings, 0, 0, {}));
    FL_CHECK(answers_.acks == 1 && !reader_->isBroken());
    answers_.acks = 0;
  }
  ~Peer() {
    reader_->abort();
    loop_.turn(0);
    reader_.reset();
    loop_.turn(0);
    FL_CHECK(loop_.slabs().inUse() == 0);
  }

  void send(std::string_view bytes) {
    while (!bytes.empty() && reader_->isOpen()) {
      const ssize_t wrote = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (wrote > 0) bytes.remove_prefix(static_cast<size_t>(wrote));
      loop_.turn(0);
      char answer[4096];
      for (ssize_t got; (got = ::recv(fd_.get(), answer, sizeof(answer), 0)) > 0;) {
        unread_.append(answer, static_cast<size_t>(got));
      }
      look();
    }
  }
  Answers answers() const {
    Answers all = answers_;
    all.has_ended = reader_->isBroken();
    return all;
  }

 private:
  void look() {
    while (unread_.size() >= kFrameHeadBytes) {
      const FrameHead head = readFrameHead(unread_.data());
      const size_t whole = kFrameHeadBytes + head.length;
      FL_CHECK(unread_.size() >= whole);
      const char* const payload = unread_.data() + kFrameHeadBytes;
      if (head.type == FrameType::Ping) answers_.pongs += head.has(flags::kAck) ? 1 : 0;
      if (head.type == FrameType::Settings) answers_.acks += head.has(flags::kAck) ? 1 : 0;
      if (head.type == FrameType::RstStream) answers_.resets.push_back(head.stream);
      if (head.type == FrameType::GoAway) {
        answers_.error = static_cast<ErrorCode>(read32(payload + 4));
      }
      unread_.erase(0, whole);
    }
  }

  net::Loop loop_;
  plan::Http2Options options_ = wideOptions();
  const http::HeadLimits limits_{.max_head_bytes = 64 * 1024, .max_headers = 1000};
  stats::Shard<stats::Http2Codec> stats_;
  net::FileDescriptor fd_;
  net::OutBatch batch_;
  std::unique_ptr<http::RequestHead> request_ = std::make_unique<http::RequestHead>();
  std::unique_ptr<http::ResponseHead> response_ = std::make_unique<http::ResponseHead>();
  const http::CodecScratch scratch_{batch_, *request_, *response_};
  std::unique_ptr<Reader> reader_;
  std::string unread_;
  Answers answers_;
};

void compare(const Answers& is, const Answers& wanted) {
  FL_CHECK(is.pongs == wanted.pongs);
  FL_CHECK(is.acks == wanted.acks);
  FL_CHECK(is.resets == wanted.resets);
  FL_CHECK(is.has_ended == wanted.has_ended);
  FL_CHECK(is.error == wanted.error || (!is.error && wanted.may_be_silent));
}

// An input is easier to grow than frames are: four bytes for a head, of which the top bit of the
// kind says that the length is a lie.
std::string framesOf(std::string_view input) {
  std::string frames;
  while (input.size() >= 4) {
    const auto at = [&](size_t i) { return static_cast<uint8_t>(input[i]); };
    const bool lies = (at(0) & 0x80) != 0;
    const size_t payload = std::min<size_t>(at(3), input.size() - 4);
    const uint32_t length = lies ? uint32_t{at(3)} * 97 : static_cast<uint32_t>(payload);
    char head[kFrameHeadBytes];
    writeFrameHead(head, length, static_cast<FrameType>((at(0) & 0x7f) % 12), at(1), at(2));
    frames.append(head, sizeof(head)).append(input.substr(4, payload));
    input.remove_prefix(4 + payload);
  }
  return frames;
}

std::string seed(FrameType type, uint8_t flags, uint8_t stream, std::string_view payload) {
  std::string bytes{static_cast<char>(type), static_cast<char>(flags), static_cast<char>(stream),
                    static_cast<char>(payload.size())};
  return bytes.append(payload);
}

}  // namespace

std::vector<std::string> fuzzSeeds() {
  constexpr uint8_t kAll = flags::kEndHeaders | flags::kEndStream;
  const std::string head = seed(FrameType::Headers, kAll, 1, "\x82\x86\x84");
  const std::string five("\0\0\0\x03\x10", 5);
  return {
      "\x01" + head + seed(FrameType::Data, 0, 1, "x") + seed(FrameType::Data, 1, 1, ""),
      "\x05" + seed(FrameType::Headers, 0, 1, "\x82") + seed(FrameType::Continuation, 0, 1, "") +
          seed(FrameType::Continuation, flags::kEndHeaders, 1, "\x86\x84"),
      "\x02" +
          seed(FrameType::Headers, kAll | flags::kPadded | flags::kPriority, 3,
               std::string("\x02", 1) + five + "\x82..") +
          seed(FrameType::Priority, 0, 3, five) + seed(FrameType::Priority, 0, 5, five),
      "\x09" + head + seed(FrameType::RstStream, 0, 1, number32(8)) + head,
      "\x03" +
          seed(FrameType::Settings, 0, 0, setting(1, 100) + setting(4, 9) + setting(5, 16384)) +
          seed(FrameType::Settings, flags::kAck, 0, "") + seed(FrameType::Ping, 0, 0, "12345678"),
      "\x07" + seed(FrameType::WindowUpdate, 0, 0, number32(100)) +
          seed(FrameType::WindowUpdate, 0, 0, number32(kMostWindow)),
      "\x04" + seed(FrameType::GoAway, 0, 0, "12345678") + seed(FrameType::PushPromise, 4, 1, ""),
      "\x06" + seed(static_cast<FrameType>(11), 0, 9, "unknown") +
          seed(static_cast<FrameType>(0x80), flags::kPadded, 1, "\x01"),
  };
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const std::string frames = framesOf({reinterpret_cast<const char*>(data) + 1, size - 1});
  const size_t piece = 1 + data[0] * size_t{3};
  Reference reference;
  reference.read(frames);
  Peer whole;
  whole.send(frames);
  compare(whole.answers(), reference.answers());
  Peer cut;
  for (size_t at = 0; at < frames.size(); at += piece) {
    cut.send(std::string_view(frames).substr(at, piece));
  }
  compare(cut.answers(), reference.answers());
  return 0;
}
