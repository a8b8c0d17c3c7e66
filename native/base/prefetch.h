// Memory that is about to be used, asked for before it is. With thousands of connections the
// objects of each are out of the caches when its turn comes; fetched one after the other as they
// are found, each line is waited for. Only a hint: the address may be any.
#pragma once

#include <cstddef>

namespace fairlead {

constexpr size_t kCacheLineBytes = 64;

inline void prefetch(const void* at, size_t bytes) {
  const char* const from = static_cast<const char*>(at);
  for (size_t i = 0; i < bytes; i += kCacheLineBytes) __builtin_prefetch(from + i);
}

}  // namespace fairlead
