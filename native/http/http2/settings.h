// What a peer's SETTINGS say. Ours are in plan::Http2Options.
#pragma once

#include <cstdint>

#include "http/http2/frames.h"

namespace fairlead::http2 {

// Before the peer has said anything (RFC 9113, 6.5.2).
struct PeerSettings {
  uint32_t max_concurrent_streams = UINT32_MAX;
  uint32_t initial_window = kDefaultWindow;
  uint32_t max_frame_bytes = kDefaultFrameBytes;
  bool enable_connect = false;
};

}  // namespace fairlead::http2
