// google.api.HttpBody: bytes of any content type as a message, or as a field of one. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace fairlead::transcoder {

using UnknownParameters = std::vector<std::pair<std::string, std::string>>;

// Appends it as the field to which these numbers lead; none: as the message itself.
void appendHttpBody(std::string* out, const std::vector<uint32_t>& path,
                    std::string_view content_type, std::string_view data,
                    const UnknownParameters& unknown);

struct HttpBody {
  std::string content_type;
  std::string data;
};
// False: the message is none.
bool readHttpBody(std::string_view message, const std::vector<uint32_t>& path, HttpBody* body);

}  // namespace fairlead::transcoder
