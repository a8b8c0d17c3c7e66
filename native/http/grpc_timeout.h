// The header grpc-timeout: how long a gRPC call may take. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "base/arena.h"
#include "net/timer_wheel.h"

namespace fairlead::http {

// "100m": up to eight digits and a unit. What is below a millisecond is rounded up. Nothing: it
// makes no sense.
std::optional<net::Millis> readGrpcTimeout(std::string_view value);

// In the smallest unit that it fits in, at most 99,999,999 hours.
std::string_view writeGrpcTimeout(net::Millis ms, Arena& arena);

}  // namespace fairlead::http
