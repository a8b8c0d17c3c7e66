#include "tcp/tunnel_side.h"

#include <utility>

namespace fairlead::tcp {

namespace {
// RST_STREAM: the head of a frame, and a code.
constexpr uint64_t kResetFrameBytes = 9 + 4;
}  // namespace

TunnelSide::TunnelSide(upstream::HttpPool& pool, net::Loop& loop, http::ByteMeter& meter,
                       SideCallbacks& callbacks, TunnelOwner& owner)
    : Side(callbacks), pool_(pool), loop_(loop), meter_(meter), owner_(owner) {
  pool_.hold();
}

// ---- coming about ----

void TunnelSide::onPoolReady(http::ClientStream& stream, upstream::Host&,
                             upstream::PooledConnection& connection) {
  state_ = State::Asked;
  stream_ = &stream;
  is_multiplexed_ = connection.codec().isMultiplexed();
  outlasts_answer_ = is_multiplexed_ || pool_.isBare();
  owner_.onTunnelReady(stream, connection);
}

void TunnelSide::onPoolFailure(upstream::UpstreamError::Kind, upstream::Host*,
                               std::string_view details) {
  giveUp(details);
}

// As the real server has it: over HTTP/2 nothing but 200 will do.
bool TunnelSide::isGranted(unsigned status) const {
  return is_multiplexed_ ? status == 200 : status / 100 == 2;
}

void TunnelSide::onResponseHead(http::ResponseHead& head, bool end) {
  if (end && (!outlasts_answer_ || has_sent_end_)) stream_ = nullptr;
  owner_.onTunnelAnswer(head);
  if (end || !isGranted(head.status)) {
    giveUp("tunnel_response:" + std::to_string(head.status));
    return;
  }
  state_ = State::Open;
  callbacks_.onConnectResult(*this, 0);
}

void TunnelSide::giveUp(std::string_view why) {
  state_ = State::Over;
  resetStream();
  owner_.onTunnelFailed(why);
}

// ---- reading ----

void TunnelSide::onResponseData(std::string_view data, bool end) {
  if (end && (!outlasts_answer_ || has_sent_end_)) stream_ = nullptr;
  if (!other_) return;
  read_bytes_ += data.size();
  if (!data.empty()) other_->write(data);
  if (end) onAnswerEnd();
}

void TunnelSide::onResponseTrailers(http::HeaderMap& trailers) {
  if (!outlasts_answer_ || has_sent_end_) stream_ = nullptr;
  owner_.onTunnelTrailers(trailers);
  if (other_) onAnswerEnd();
}

void TunnelSide::onResponseReadEnd() {
  if (!other_) return;
  other_->flush();
  callbacks_.onMoved(*this);
  if (!over_ && other_ && stream_) pauseForOther();
}

void TunnelSide::onAnswerEnd() {
  other_->flush();
  callbacks_.onMoved(*this);
  if (!over_) finishReading();
}

void TunnelSide::onResponseReset(http::ResetReason reason, std::string_view) {
  stream_ = nullptr;
  // One that has ended before was not cut off, as where nothing more of its request is wanted.
  was_reset_ = reason == http::ResetReason::RemoteReset && !ended_;
  if (state_ == State::Open) {
    fail();
  } else {
    giveUp({});
  }
}

void TunnelSide::pauseReading() {
  if (stream_) stream_->pauseReading();
}

void TunnelSide::resumeReading() {
  if (stream_) stream_->resumeReading();
}

// ---- writing ----

void TunnelSide::write(std::string_view data) {
  if (stream_) stream_->sendData(data, false);
}

void TunnelSide::flush() {
  if (stream_) stream_->flush();
}

void TunnelSide::endWriting() {
  if (!stream_ || has_sent_end_) return;
  has_sent_end_ = true;
  // With that a stream whose answer has ended is over.
  http::ClientStream* const stream = ended_ ? std::exchange(stream_, nullptr) : stream_;
  stream->sendData({}, true);
  if (stream_) stream_->flush();
}

bool TunnelSide::isOverHighWatermark() const { return stream_ && stream_->isOverHighWatermark(); }

// ---- the end ----

// As the real server, which counts the frame that does it.
void TunnelSide::resetStream() {
  http::ClientStream* const stream = std::exchange(stream_, nullptr);
  if (!stream) return;
  if (is_multiplexed_) meter_.wire_sent += kResetFrameBytes;
  stream->reset();
}

void TunnelSide::end(net::Connection::CloseKind) {
  if (over_) return;
  over_ = true;
  other_ = nullptr;
  if (state_ == State::Waiting) pool_.cancel(*this);
  state_ = State::Over;
  resetStream();
  pool_.letGo();
  loop_.bury(std::unique_ptr<Mortal>(this));
}

}  // namespace fairlead::tcp
