// Whose address a connection to a host has in place of this machine's: its client's (the filters
// original_src). A value.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "net/address.h"

namespace fairlead::net {

struct OriginalSource {
  // Of IP. Port 0: the kernel chooses one.
  Address address;
  // SO_MARK; 0: none.
  uint32_t mark = 0;

  // The same text for the same source.
  std::string key() const { return address.text() + "/" + std::to_string(mark); }
};

using SharedSource = std::shared_ptr<const OriginalSource>;

// Whether anything that was ever built tells of such sources. For good, once it is so; any thread.
inline std::atomic<bool> source_wanted{false};
inline bool isSourceWanted() { return source_wanted.load(std::memory_order_relaxed); }
inline void wantSource() { source_wanted.store(true, std::memory_order_relaxed); }

}  // namespace fairlead::net
