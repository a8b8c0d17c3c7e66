// Texts of well-known types: points in time, durations, field masks. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::transcoder {

// RFC 3339, with a "Z" or an offset. These: empty, or what is wrong.
std::string parseTimestamp(std::string_view text, int64_t* seconds, int32_t* nanos);
// "1.5s"
std::string parseDuration(std::string_view text, int64_t* seconds, int32_t* nanos);
// "a.bC,d(e,f)": a.b_c, d.e and d.f.
std::string parseFieldMask(std::string_view text, std::vector<std::string>* paths);

// Appends with quotes. These: null, or what is wrong.
const char* appendTimestamp(std::string* out, int64_t seconds, int32_t nanos);
const char* appendDuration(std::string* out, int64_t seconds, int32_t nanos);
// Without quotes: a path of a field mask, in camel case.
void appendMaskPath(std::string* out, std::string_view path);

}  // namespace fairlead::transcoder
