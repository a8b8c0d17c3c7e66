#include "filters/http/paced_body.h"

#include <algorithm>

namespace fairlead::filters {

PacedBody::~PacedBody() {
  if (is_gone_) *is_gone_ = true;
  body_.clear(place_.loop().slabs());
}

void PacedBody::take(std::string_view data, bool end) {
  body_.append(place_.loop().slabs(), data);
  has_ended_ = end;
  // Not from here: this is the filter's own call. Nor a millisecond later, which a client would be
  // told of.
  if (!isArmed()) place_.loop().yield(this);
  const bool is_request = side_ == Side::Request;
  const uint32_t limit = is_request ? place_.requestBufferLimit() : place_.bufferLimit();
  if (limit == 0 || body_.size() <= limit || pauses_) return;
  pauses_ = true;
  if (is_request) {
    place_.pauseRequest();
  } else {
    place_.pauseResponse();
  }
}

bool PacedBody::holdsTrailers() {
  has_trailers_ = !body_.empty();
  return has_trailers_;
}

void PacedBody::pass() {
  net::Loop& loop = place_.loop();
  const size_t bytes = bucket_.take(body_.size(), loop.nowMicros());
  const size_t left = body_.size() - bytes;
  owner_.onPaced(bytes, left);
  if (left > 0) loop.timers().arm(this, loop.now() + interval_ms_);
  bool is_gone = false;
  is_gone_ = &is_gone;
  giveOn(bytes);
  if (is_gone) return;
  is_gone_ = nullptr;
  const bool is_request = side_ == Side::Request;
  const uint32_t limit = is_request ? place_.requestBufferLimit() : place_.bufferLimit();
  if (!pauses_ || body_.size() > limit / 2) return;
  pauses_ = false;
  if (is_request) {
    place_.resumeRequest();
  } else {
    place_.resumeResponse();
  }
}

// With the last of it this may be gone.
void PacedBody::giveOn(size_t bytes) {
  bool* const is_gone = is_gone_;
  const bool is_last = bytes == body_.size() && (has_ended_ || has_trailers_);
  const bool adds_trailers = is_last && owner_.onPacedEnd();
  const bool ends_with_data = is_last && !has_trailers_ && !adds_trailers;
  if (bytes == 0 && ends_with_data) {
    inject({}, true);
    return;
  }
  while (bytes > 0) {
    iovec piece;
    body_.gather(&piece, 1);
    const size_t size = std::min(bytes, piece.iov_len);
    inject({static_cast<char*>(piece.iov_base), size}, ends_with_data && size == body_.size());
    if (*is_gone) return;
    body_.consume(place_.loop().slabs(), size);
    bytes -= size;
  }
  if (adds_trailers) {
    place_.injectResponseTrailers();
  } else if (is_last && has_trailers_) {
    if (side_ == Side::Request) {
      place_.continueRequest();
    } else {
      place_.continueResponse();
    }
  }
}

void PacedBody::inject(std::string_view data, bool end) {
  if (side_ == Side::Request) {
    place_.injectRequestData(data, end);
  } else {
    place_.injectResponseData(data, end);
  }
}

}  // namespace fairlead::filters
