#pragma once

#include <cstdint>

namespace fairlead::net {

// What has come on a TCP connection so far, read or not; 0 of what is none.
uint64_t receivedBytes(int fd);

// Whether the kernel holds bytes of ours that it has not sent, as to who reads slowly: a reset
// would lose them.
bool hasUnsent(int fd);

// The kernel's estimate for a TCP connection; 0 of what is none.
uint64_t roundTripMs(int fd);

}  // namespace fairlead::net
