// The three ways to write a date (RFC 9110 §5.6.7). Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace fairlead::caches {

// Seconds since 1970, also before it. Nothing: it is no date.
std::optional<int64_t> parseHttpDate(std::string_view text);

}  // namespace fairlead::caches
