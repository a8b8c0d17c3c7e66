// What logs may ask of a call of an authorization service, in the filter state. The worker's
// thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "format/append_number.h"
#include "http/byte_meter.h"
#include "net/filter_state.h"

namespace fairlead::filters {

class AuthzFigures final : public net::StateObject {
 public:
  const void* kind() const override { return &kKind; }
  bool appendField(std::string_view field, std::string* out) const override {
    if (field == "latency_us") return append(latency_us, out);
    if (!bytes) return false;
    if (field == "bytesSent") return append(bytes->wire_sent, out);
    return field == "bytesReceived" && append(bytes->wire_received, out);
  }

  std::optional<uint64_t> latency_us;
  // Of the call; none: nobody knows.
  std::optional<http::ByteMeter> bytes;

 private:
  static constexpr char kKind = 0;

  static bool append(std::optional<uint64_t> number, std::string* out) {
    if (!number) return false;
    format::appendNumber(*number, out);
    return true;
  }
};

}  // namespace fairlead::filters
