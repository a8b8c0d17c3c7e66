// Numbers of connections, clients' and hosts' alike: what %CONNECTION_ID% shows. One sequence for
// the whole process, touched once per connection. Any thread.
#pragma once

#include <atomic>
#include <cstdint>

namespace fairlead::net {

inline std::atomic<uint64_t> next_connection_id{0};

inline uint64_t takeConnectionId() {
  return next_connection_id.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace fairlead::net
