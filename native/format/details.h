// What %RESPONSE_CODE_DETAILS% says where there is nothing to say.
#pragma once

#include <string_view>

namespace fairlead::format {

// In place of details that are there, and empty: logs tell them from none.
inline constexpr std::string_view kEmptyDetails("\0", 1);

}  // namespace fairlead::format
