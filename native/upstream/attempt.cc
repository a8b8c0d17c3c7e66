#include "upstream/attempt.h"

#include <utility>

namespace fairlead::upstream {

namespace {

UpstreamError::Kind kindOf(http::ResetReason reason) {
  switch (reason) {
    case http::ResetReason::ConnectionTermination:
      break;
    case http::ResetReason::ProtocolError:
      return UpstreamError::Kind::ProtocolError;
    case http::ResetReason::LocalReset:
    case http::ResetReason::TooLarge:
    case http::ResetReason::Overload:
      return UpstreamError::Kind::LocalReset;
    case http::ResetReason::RemoteReset:
      return UpstreamError::Kind::RemoteReset;
    case http::ResetReason::RemoteRefused:
      return UpstreamError::Kind::RemoteRefused;
    case http::ResetReason::ConnectError:
      return UpstreamError::Kind::ConnectError;
  }
  return UpstreamError::Kind::ConnectionTermination;
}

}  // namespace

void Attempt::start(HttpPool& pool, uint8_t whose_limits) {
  FL_DCHECK(state_ == State::Idle);
  pool.hold();
  if (pool_) pool_->letGo();
  pool_ = &pool;
  priority = whose_limits;
  was_hedged = false;
  was_late = false;
  was_informed = false;
  state_ = State::Waiting;
  pool.newStream(*this);
}

void Attempt::becomeIdle() {
  state_ = State::Idle;
  stream_ = nullptr;
  try_deadline = idle_deadline = exchange_deadline = net::kNever;
}

void Attempt::abandon() {
  const State before = state_;
  http::ClientStream* const stream = stream_;
  becomeIdle();
  if (before == State::Waiting) pool_->cancel(*this);
  if (stream) stream->reset();
}

void Attempt::release() {
  abandon();
  if (HttpPool* pool = std::exchange(pool_, nullptr)) pool->letGo();
}

void Attempt::onPoolReady(http::ClientStream& stream, Host&, PooledConnection& connection) {
  state_ = State::Asked;
  stream_ = &stream;
  owner_->onAttemptReady(*this, connection);
}

void Attempt::onPoolFailure(UpstreamError::Kind failure, Host* host, std::string_view details) {
  becomeIdle();
  owner_->onAttemptFailed(*this, {failure, host, false, details});
}

void Attempt::onInformational(http::ResponseHead& head) {
  // As the real server: those that it knows, and whatever else comes before the answer is nobody's.
  if (head.status > 104 || std::exchange(was_informed, true)) return;
  owner_->onAttemptInformational(*this, head);
}

void Attempt::onResponseHead(http::ResponseHead& head, bool end) {
  if (end) {
    becomeIdle();
  } else {
    state_ = State::Answering;
  }
  owner_->onAttemptHead(*this, head, end);
}

void Attempt::onResponseData(std::string_view data, bool end) {
  if (end) becomeIdle();
  owner_->onAttemptData(*this, data, end);
}

void Attempt::onResponseTrailers(http::HeaderMap& trailers) {
  becomeIdle();
  owner_->onAttemptTrailers(*this, trailers);
}

void Attempt::onResponseReadEnd() {
  if (stream_) owner_->onAttemptReadEnd(*this);
}

void Attempt::onResponseReset(http::ResetReason reason, std::string_view) {
  becomeIdle();
  owner_->onAttemptFailed(*this, {kindOf(reason), &host(), true});
}

}  // namespace fairlead::upstream
