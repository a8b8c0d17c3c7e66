#pragma once

#include <cstdint>

namespace fairlead::http {

// Bytes of one exchange on one side's wire.
struct ByteMeter {
  uint64_t wire_received = 0;
  uint64_t wire_sent = 0;
  // Of these, those of header lines; and of the same before they were compressed, or after. Where
  // nothing is compressed, of heads alone.
  uint32_t header_received = 0;
  uint32_t header_sent = 0;
  uint32_t plain_received = 0;
  uint32_t plain_sent = 0;
};

}  // namespace fairlead::http
