#include "filters/http/rate_limiter.h"

#include <algorithm>

namespace fairlead::filters {

namespace {

constexpr net::Millis kTickMs = 50;

}  // namespace

RateLimiter::RateLimiter(FilterPlace& place, uint64_t bytes_per_second)
    : place_(place),
      bytes_per_second_(std::min(bytes_per_second, UINT64_MAX / 1'000'000)),
      tokens_milli_(bytes_per_second_ * kTickMs),
      filled_at_(place.loop().now()) {}

RateLimiter::~RateLimiter() {
  if (is_gone_) *is_gone_ = true;
  body_.clear(place_.loop().slabs());
}

void RateLimiter::take(std::string_view data, bool end) {
  body_.append(place_.loop().slabs(), data);
  has_ended_ = end;
  // Not from here: this is the filter's own call.
  if (!isArmed()) place_.loop().timers().arm(this, place_.loop().now());
  const uint32_t limit = place_.bufferLimit();
  if (limit == 0 || body_.size() <= limit || pauses_) return;
  pauses_ = true;
  place_.pauseResponse();
}

bool RateLimiter::holdsTrailers() {
  has_trailers_ = !body_.empty();
  return has_trailers_;
}

// At most a second's worth is saved up.
void RateLimiter::refill() {
  const net::Millis now = place_.loop().now();
  const uint64_t most = bytes_per_second_ * 1000;
  const uint64_t elapsed = std::min<uint64_t>(now - filled_at_, 1000);
  tokens_milli_ = std::min(most, tokens_milli_ + elapsed * bytes_per_second_);
  filled_at_ = now;
}

void RateLimiter::onTimer() {
  refill();
  net::Loop& loop = place_.loop();
  size_t left = std::min<uint64_t>(tokens_milli_ / 1000, body_.size());
  tokens_milli_ -= left * 1000;
  if (body_.size() > left) loop.timers().arm(this, loop.now() + kTickMs);
  bool is_gone = false;
  is_gone_ = &is_gone;
  const bool ends_empty = has_ended_ && body_.empty() && !has_trailers_;
  if (ends_empty) place_.injectResponseData({}, true);
  while (!is_gone && left > 0) {
    iovec piece;
    body_.gather(&piece, 1);
    const size_t size = std::min(left, piece.iov_len);
    const bool is_last = has_ended_ && !has_trailers_ && size == body_.size();
    place_.injectResponseData({static_cast<char*>(piece.iov_base), size}, is_last);
    if (is_gone) return;
    body_.consume(loop.slabs(), size);
    left -= size;
  }
  if (is_gone) return;
  is_gone_ = nullptr;
  if (pauses_ && body_.size() <= place_.bufferLimit() / 2) {
    pauses_ = false;
    place_.resumeResponse();
  }
  if (has_trailers_ && body_.empty()) place_.continueResponse();
}

}  // namespace fairlead::filters
