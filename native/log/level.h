// How much a log line matters, and the names that select it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace fairlead::log {

// In order; Off is above all lines.
enum class Level : uint8_t { Trace, Debug, Info, Warning, Error, Critical, Off };

inline constexpr std::array<std::string_view, 7> kLevelNames = {
    "trace", "debug", "info", "warning", "error", "critical", "off"};

constexpr std::string_view nameOf(Level level) { return kLevelNames[static_cast<size_t>(level)]; }
constexpr char letterOf(Level level) { return "TDIWECO"[static_cast<size_t>(level)]; }

}  // namespace fairlead::log
