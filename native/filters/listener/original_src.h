// envoy.filters.listener.original_src: connections to hosts have the client's address as theirs,
// which needs the right to do so (CAP_NET_ADMIN), and routes that lead back here.
#pragma once

#include "net/listener_filter.h"
#include "plan/plan.gen.h"

namespace fairlead::filters {

class OriginalSrcConfig final : public net::ListenerFilterConfig {
 public:
  explicit OriginalSrcConfig(const plan::OriginalSrc& plan);
  std::unique_ptr<net::ListenerFilter> make(unsigned worker) const override;

 private:
  const plan::OriginalSrc plan_;
};

}  // namespace fairlead::filters
