// A listener filter whose configuration comes while the server runs (ECDS): in its place another
// filter stands, which may be replaced for connections that come later. While there is none,
// connections are refused.
#pragma once

#include <memory>
#include <vector>

#include "filters/discovered_places.h"
#include "net/listener_filter.h"

namespace fairlead::filters {

class DiscoveredListenerConfig final : public net::ListenerFilterConfig {
 public:
  using Inner = std::shared_ptr<const net::ListenerFilterConfig>;

  DiscoveredListenerConfig(uint64_t id, unsigned workers, const Inner& first)
      : id_(id), current_(workers, first) {}

  uint64_t id() const { return id_; }
  // From here on, null: nothing; that worker's thread.
  void set(unsigned worker, Inner filter) { current_[worker] = std::move(filter); }

  bool isThere(unsigned worker) const override { return current_[worker] != nullptr; }
  std::unique_ptr<net::ListenerFilter> make(unsigned worker) const override;

 private:
  const uint64_t id_;
  // Of each worker, which alone looks at it.
  std::vector<Inner> current_;
};

// Those of a data plane.
using DiscoveredListenerFilters = DiscoveredPlaces<DiscoveredListenerConfig>;

}  // namespace fairlead::filters
