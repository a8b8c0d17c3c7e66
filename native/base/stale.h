// Memory that is given out again and again, without a call of the allocator: a sanitizer cannot see
// when a view of it outlives what it was given for. These tell it. Nothing in other builds.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

namespace fairlead {

// Whoever reads or writes there before markFresh() has kept what is not its own any more.
inline void markStale([[maybe_unused]] const void* at, [[maybe_unused]] size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  ASAN_POISON_MEMORY_REGION(at, bytes);
#endif
}

inline void markFresh([[maybe_unused]] const void* at, [[maybe_unused]] size_t bytes) {
#if defined(__SANITIZE_ADDRESS__)
  ASAN_UNPOISON_MEMORY_REGION(at, bytes);
#endif
}

}  // namespace fairlead
