// Cookies of a request. Pure.
#pragma once

#include <optional>
#include <string_view>

#include "http/message.h"

namespace fairlead::route {

// The first cookie of that name, without quotes around it. Nothing: there is none.
std::optional<std::string_view> findCookie(const http::HeaderMap& headers, std::string_view name);

}  // namespace fairlead::route
