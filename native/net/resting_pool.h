// Objects that rest between two uses, so that a request allocates nothing. One worker's.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "base/resting.h"
#include "net/loop.h"

namespace fairlead::net {

// `object` ends with this turn: its callers may still use it until then.
template <typename Object>
void buryIn(Loop& loop, std::unique_ptr<Object> object) {
  struct Buried final : Mortal {
    explicit Buried(std::unique_ptr<Object> of) : object(std::move(of)) {}
    std::unique_ptr<Object> object;
  };
  loop.bury(std::make_unique<Buried>(std::move(object)));
}

template <typename Object>
class RestingPool {
 public:
  // No more than `most` rest at once.
  explicit RestingPool(size_t most) : resting_(most) {}

  // The caller's, until it gives it back.
  Object* take() {
    std::optional<std::unique_ptr<Object>> resting = resting_.take();
    return resting ? resting->release() : new Object;
  }
  // `object` may still be used by its callers until the turn ends.
  void give(Object* object, Loop& loop) {
    std::unique_ptr<Object> owned(object);
    if (!resting_.give(owned)) buryIn(loop, std::move(owned));
  }
  // Ends those that nobody needed since the previous call.
  void trim() { resting_.trim(); }

 private:
  Resting<std::unique_ptr<Object>> resting_;
};

}  // namespace fairlead::net
