// JSON strings. Pure.
#pragma once

#include <string>
#include <string_view>

namespace fairlead {

// Appends the text with its quotes; what JSON does not allow in a string is escaped.
void appendJsonString(std::string* out, std::string_view text);
// The same without quotes. Of a text that is not UTF-8 every byte stands for a character of its
// own.
void appendJsonInside(std::string* out, std::string_view text);
// The inside, too; bytes above 0x1f stay, whatever they are.
void appendJsonEscaped(std::string* out, std::string_view text);
// Whether it is ASCII that needs no escapes.
bool isPlainJson(std::string_view text);

}  // namespace fairlead
