// A call that failed as JSON: its google.rpc.Status, which trailers have whole or in parts.
#pragma once

#include <cstdint>
#include <string>

#include "filters/transcoder/service.h"
#include "http/message.h"

namespace fairlead::transcoder {

// False: the service's types have no such message.
bool printStatus(const Service& service, const http::HeaderMap& trailers, int64_t code,
                 std::string* json);

}  // namespace fairlead::transcoder
