#include "filters/listener/discovered.h"

#include <utility>

namespace fairlead::filters {

namespace {

// Of one connection: the filter that was there when its turn came, and what that one is made of.
class DiscoveredLook final : public net::ListenerFilter {
 public:
  DiscoveredLook(DiscoveredListenerConfig::Inner config, unsigned worker)
      : config_(std::move(config)), filter_(config_ ? config_->make(worker) : nullptr) {}

  // Taken away while filters before it waited: nobody passes.
  Verdict look(net::EarlySocket& socket) override {
    return filter_ ? filter_->look(socket) : Verdict::Refuse;
  }

 private:
  const DiscoveredListenerConfig::Inner config_;
  const std::unique_ptr<net::ListenerFilter> filter_;
};

}  // namespace

std::unique_ptr<net::ListenerFilter> DiscoveredListenerConfig::make(unsigned worker) const {
  return std::make_unique<DiscoveredLook>(current_[worker], worker);
}

}  // namespace fairlead::filters
