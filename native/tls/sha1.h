// What passwords of htpasswd files are compared by.
#pragma once

#include <string_view>

namespace fairlead::tls {

// Whether `digest` is SHA-1 of `text`; it takes as long whether it is or not. Any thread.
bool isSha1Of(std::string_view text, std::string_view digest);

}  // namespace fairlead::tls
