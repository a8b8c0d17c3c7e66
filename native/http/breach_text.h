// What logs of connections say of what a client broke, in the real server's words. Pure.
#pragma once

#include <string_view>

namespace fairlead::http {

// By RESPONSE_CODE_DETAILS, of both versions.
std::string_view breachText(std::string_view details);

}  // namespace fairlead::http
