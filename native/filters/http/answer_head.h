// The head of an answer that a filter gives in parts.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "format/response_flags.h"
#include "http/message.h"

namespace fairlead::filters {

struct AnswerHead {
  uint16_t status;
  // Changed on their way. Values live until the head has been given.
  http::HeaderMap& headers;
  // What %RESPONSE_CODE_DETAILS% says.
  std::string_view details;
  std::optional<format::ResponseFlag> flag = std::nullopt;
};

}  // namespace fairlead::filters
