// Lets the body of an answer pass a filter at a limited rate: takes all that comes, and gives on as
// much as its tokens allow, every 50 ms. Part of a filter; the worker's thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/slab.h"
#include "filters/http/filter_place.h"
#include "net/timer_wheel.h"

namespace fairlead::filters {

class RateLimiter final : private net::Timer {
 public:
  RateLimiter(FilterPlace& place, uint64_t bytes_per_second);
  ~RateLimiter();

  // FilterStatus::Take is to follow.
  void take(std::string_view data, bool end);
  // True: FilterStatus::Pause is to follow, until the body before the trailers has passed.
  bool holdsTrailers();

 private:
  // net::Timer
  void onTimer() override;
  void refill();

  FilterPlace& place_;
  const uint64_t bytes_per_second_;
  // In thousandths of a byte: a tick's share is whole.
  uint64_t tokens_milli_;
  net::Millis filled_at_;
  SlabChain body_;
  bool has_ended_ = false;
  bool has_trailers_ = false;
  bool pauses_ = false;
  // Set while what was given on may end the stream, and this with it.
  bool* is_gone_ = nullptr;
};

}  // namespace fairlead::filters
