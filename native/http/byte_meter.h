#pragma once

#include <cstdint>

namespace fairlead::http {

// Bytes of one exchange on one side's wire.
struct ByteMeter {
  uint64_t wire_received = 0;
  uint64_t wire_sent = 0;
  // Of these, those of header lines.
  uint64_t header_received = 0;
  uint64_t header_sent = 0;
};

}  // namespace fairlead::http
