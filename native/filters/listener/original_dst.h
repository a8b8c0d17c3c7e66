// envoy.filters.listener.original_dst: the local address becomes the one that the client wanted to
// reach, where the kernel's packet filter sent it here instead.
#pragma once

#include "net/listener_filter.h"

namespace fairlead::filters {

class OriginalDstConfig final : public net::ListenerFilterConfig {
 public:
  std::unique_ptr<net::ListenerFilter> make(unsigned worker) const override;
};

}  // namespace fairlead::filters
