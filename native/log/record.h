// A log line before it is written: what it says, and what a pattern may show of it.
#pragma once

#include <cstdint>
#include <string_view>

#include "log/level.h"

namespace fairlead::log {

struct Record {
  // Since 1970.
  int64_t time_ns = 0;
  uint32_t thread = 0;
  uint32_t line = 0;
  Level level = Level::Info;
  // These three live as long as the process.
  std::string_view logger;
  // Relative to the package; empty where it is not known.
  std::string_view file;
  // With or without its type and arguments.
  std::string_view function;
  // Valid as long as the record is.
  std::string_view text;
};

}  // namespace fairlead::log
