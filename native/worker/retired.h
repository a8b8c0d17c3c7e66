// What has been replaced or removed, and workers may still use. The last reference is here, so that
// large things are destroyed on the control thread and not on a request's way. The control
// thread's.
#pragma once

#include <atomic>
#include <memory>
#include <utility>
#include <vector>

namespace fairlead::worker {

class Retired {
 public:
  void add(std::shared_ptr<const void> thing) {
    if (thing) things_.push_back(std::move(thing));
  }

  // Destroys what no worker has any more; nobody can get at it anew.
  void sweep() {
    // What is destroyed may have held others.
    for (size_t before = things_.size() + 1; before > things_.size();) {
      before = things_.size();
      std::erase_if(things_, [](const auto& thing) { return thing.use_count() == 1; });
    }
  }

  size_t count() const { return things_.size(); }

 private:
  std::vector<std::shared_ptr<const void>> things_;
};

}  // namespace fairlead::worker
