// UTF-8 (RFC 3629). Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fairlead::transcoder {

// How many bytes from the front are whole characters.
size_t validUtf8Prefix(std::string_view text);
inline bool isValidUtf8(std::string_view text) { return validUtf8Prefix(text) == text.size(); }
void appendUtf8(std::string* out, uint32_t code);

// As a string in JSON, with quotes. Beyond what JSON asks for, characters are escaped that would be
// markup in HTML or cannot be seen. Bytes that are no character become a space.
void appendJsonString(std::string* out, std::string_view text);
// Base64 with padding, with quotes.
void appendJsonBytes(std::string* out, std::string_view bytes);

}  // namespace fairlead::transcoder
