// Texts as protobuf's JSON has them. Pure.
#pragma once

#include <string>
#include <string_view>

namespace fairlead {

// Appends the text with its quotes. What a page of HTML or a terminal could take for more than text
// is escaped; what begins as a character of UTF-8 and is none becomes a blank, with the byte that
// shows it.
void appendProtoJsonString(std::string* out, std::string_view text);

}  // namespace fairlead
