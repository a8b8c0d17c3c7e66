// What the first bytes of a connection say of HTTP, before anything of a request is believed. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fairlead::filters {

enum class FirstLine : uint8_t {
  // More bytes decide.
  Unfinished,
  NotHttp,
  // And all versions that are neither 1.1 nor 2, as the real server has it.
  Http10,
  Http11,
  // The connection preface of HTTP/2.
  Http2,
};

// `bytes`: all that has come so far.
FirstLine readFirstLine(std::string_view bytes);

}  // namespace fairlead::filters
