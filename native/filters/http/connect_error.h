// Errors of the Connect protocol, as they are in JSON and in HTTP. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "http/message.h"

namespace fairlead::filters {

// Of a call of one message.
uint16_t connectStatusOf(int64_t grpc_status);
// {"code":…,"message":…,"details":[…]} of a call that failed, from its trailers.
void appendConnectError(std::string* out, int64_t grpc_status, const http::HeaderMap& trailers);
// What ends a stream: its error, if there is one, and its trailers.
std::string connectEndOf(const http::HeaderMap& trailers, bool has_metadata);

}  // namespace fairlead::filters
