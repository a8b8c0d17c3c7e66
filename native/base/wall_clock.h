// What time it is, as clocks on walls have it. Any thread.
#pragma once

#include <chrono>
#include <cstdint>

namespace fairlead {

// Microseconds since 1970.
inline uint64_t wallClockMicros() {
  using namespace std::chrono;
  const auto now = system_clock::now().time_since_epoch();
  return static_cast<uint64_t>(duration_cast<microseconds>(now).count());
}

}  // namespace fairlead
