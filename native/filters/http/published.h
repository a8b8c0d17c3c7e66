// What filters count of their own, and show when somebody looks at statistics. The control
// thread's.
#pragma once

#include <memory>
#include <vector>

namespace fairlead::filters {

class Published {
 public:
  virtual ~Published() = default;
  virtual void publish() = 0;
};

// All that there are.
class Publishers {
 public:
  void add(const std::shared_ptr<Published>& one) { all_.push_back(one); }
  void publish() {
    std::erase_if(all_, [](const auto& one) { return one.expired(); });
    for (const auto& each : all_) {
      if (const auto one = each.lock()) one->publish();
    }
  }

 private:
  std::vector<std::weak_ptr<Published>> all_;
};

}  // namespace fairlead::filters
