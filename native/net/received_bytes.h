#pragma once

#include <cstdint>

namespace fairlead::net {

// What has come on a TCP connection so far, read or not; 0 of what is none.
uint64_t receivedBytes(int fd);

// Whether the kernel holds bytes of ours that the peer has not confirmed: a reset would lose them.
bool hasUnconfirmed(int fd);

// The kernel's estimate for a TCP connection; 0 of what is none.
uint64_t roundTripMs(int fd);

}  // namespace fairlead::net
