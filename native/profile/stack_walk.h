// Where a thread was when a signal interrupted it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace fairlead::profile {

// Once before the first walk: the unwinder loads what it needs when it is used for the first time,
// which a handler must not.
void prepareWalks();

// In a signal's handler, with the context that it was given: addresses of the frames below, inner
// first, at least one. Returns how many. No lock, no allocation.
size_t walkStack(const void* context, std::span<uintptr_t> out);

}  // namespace fairlead::profile
