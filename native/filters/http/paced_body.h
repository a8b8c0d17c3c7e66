// Lets a body pass a filter as its bucket has bytes for it: takes all that comes, and gives on what
// may pass, at each interval. Part of a filter; the worker's thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/slab.h"
#include "filters/http/byte_bucket.h"
#include "filters/http/filter_place.h"
#include "net/loop.h"
#include "net/timer_wheel.h"

namespace fairlead::filters {

class PacedBody final : private net::Timer, private net::Deferred {
 public:
  enum class Side : uint8_t { Request, Response };

  class Owner {
   public:
    // So much goes on now; `left` waits.
    virtual void onPaced(uint64_t bytes, uint64_t left) = 0;
    // The last of the body goes on now. True: trailers of the owner's come behind it, which it has
    // its place ask it for.
    virtual bool onPacedEnd() = 0;

   protected:
    ~Owner() = default;
  };

  PacedBody(FilterPlace& place, Side side, Owner& owner, ByteBucket& bucket, uint32_t interval_ms)
      : place_(place), owner_(owner), bucket_(bucket), interval_ms_(interval_ms), side_(side) {}
  ~PacedBody();

  // FilterStatus::Take is to follow.
  void take(std::string_view data, bool end);
  // True: they wait, until the body before them has passed and the place is asked for them.
  bool holdsTrailers();

 private:
  // net::Timer
  void onTimer() override { pass(); }
  // net::Deferred
  void onDeferred() override { pass(); }
  // What may pass now.
  void pass();
  void giveOn(size_t bytes);
  void inject(std::string_view data, bool end);

  FilterPlace& place_;
  Owner& owner_;
  ByteBucket& bucket_;
  const uint32_t interval_ms_;
  SlabChain body_;
  const Side side_;
  bool has_ended_ = false;
  // Of the sender's.
  bool has_trailers_ = false;
  bool pauses_ = false;
  // Set while what was given on may end the stream, and this with it.
  bool* is_gone_ = nullptr;
};

}  // namespace fairlead::filters
