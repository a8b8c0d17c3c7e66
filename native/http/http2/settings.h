// Http2ProtocolOptions in the form that the codec needs, with the real server's defaults, and what
// a peer's SETTINGS say. Values.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "http/http2/frames.h"

namespace fairlead::http2 {

// PINGs that find out whether the peer is still there. 0 of an interval: none.
struct Keepalive {
  uint32_t interval_ms = 0;
  uint32_t timeout_ms = 0;
  // Of the interval, in percent, at most.
  double jitter_percent = 15;
  // Without traffic for so long, one is sent with the next stream.
  uint32_t idle_interval_ms = 0;
};

struct Options {
  // Of the table that the peer's encoder has here, and the most of ours.
  uint32_t hpack_table_bytes = 4096;
  uint32_t max_concurrent_streams = 1024;
  uint32_t initial_stream_window = 16 * 1024 * 1024;
  uint32_t initial_connection_window = 24 * 1024 * 1024;
  // Of frames that are sent, where the peer allows it. 0: what the peer's settings begin with.
  uint32_t max_sent_frame_bytes = 0;
  // Extended CONNECT (RFC 8441).
  bool allow_connect = false;
  bool allow_metadata = false;
  // override_stream_error_on_invalid_http_message: what breaks HTTP's rules ends its stream, not
  // the connection.
  bool resets_stream_on_bad_message = false;
  // Frames that wait to be written, and those of them that are no DATA or HEADERS.
  uint32_t max_outbound_frames = 10'000;
  uint32_t max_outbound_control_frames = 1'000;
  // Frames without payload that end nothing, one after another.
  uint32_t max_empty_frames = 1;
  // For each stream that was opened, and of DATA frames that were sent.
  uint32_t max_priority_frames_per_stream = 100;
  uint32_t max_window_updates_per_data_frame = 10;
  uint32_t max_metadata_bytes = 1024 * 1024;
  Keepalive keepalive;
  // custom_settings_parameters, sent after ours.
  std::vector<std::pair<uint16_t, uint32_t>> custom;
};

// Before the peer has said anything (RFC 9113, 6.5.2).
struct PeerSettings {
  uint32_t header_table_bytes = 4096;
  uint32_t max_concurrent_streams = UINT32_MAX;
  uint32_t initial_window = kDefaultWindow;
  uint32_t max_frame_bytes = kDefaultFrameBytes;
  bool enable_push = true;
  bool enable_connect = false;
};

}  // namespace fairlead::http2
