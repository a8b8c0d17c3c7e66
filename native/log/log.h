// What the data plane says while it works. A line costs one load while its level is off: its parts
// are neither computed nor written. Lines that are on go to a ring of their thread, and a thread of
// the log's own (log/sink) writes them. There is one log per process.
//
//   log::debug(Component::Pool, Tags{.connection = id}, "creating a new connection to ",
//   host.name());
//
// A part is text, a number, Tags, or a function that gives one of them: it is called when the line
// is on.
#pragma once

#include <array>
#include <atomic>
#include <charconv>
#include <cstdint>
#include <optional>
#include <source_location>
#include <string>
#include <string_view>
#include <type_traits>

#include "log/component.h"
#include "log/file_levels.h"
#include "log/level.h"

namespace fairlead::log {

// What is finer than its threshold is off, and at first all is. Written by the control thread, read
// by all. In fine-grain mode each component is at trace, and its files have levels of their own.
struct Threshold {
  std::atomic<Level> level{Level::Off};
};
inline constinit std::array<Threshold, kComponents> thresholds;

inline bool isOn(Component component, Level level) {
  return thresholds[static_cast<size_t>(component)].level.load(std::memory_order_relaxed) <= level;
}
inline void setLevel(Component component, Level level) {
  thresholds[static_cast<size_t>(component)].level.store(level, std::memory_order_relaxed);
}

// Levels per source file from now on, for good. They are the process's.
FileLevels& enableFineGrain(Level level);

// What a line is about, at its beginning: [Tags: "ConnectionId":"3","StreamId":"7"].
struct Tags {
  std::optional<uint64_t> connection;
  std::optional<uint64_t> stream = {};
};

// A component, and where in the source the line stands.
struct At {
  At(Component of, std::source_location where = std::source_location::current())
      : component(of), place(where) {}
  Component component;
  std::source_location place;
};

namespace inside {

void appendTags(std::string* line, const Tags& tags);

template <typename Part>
void append(std::string* line, const Part& part) {
  if constexpr (std::is_convertible_v<const Part&, std::string_view>) {
    line->append(std::string_view(part));
  } else if constexpr (std::is_same_v<Part, bool>) {
    line->append(part ? "true" : "false");
  } else if constexpr (std::is_same_v<Part, char>) {
    line->push_back(part);
  } else if constexpr (std::is_integral_v<Part>) {
    std::array<char, 24> text;
    line->append(text.data(), std::to_chars(text.data(), text.data() + text.size(), part).ptr);
  } else if constexpr (std::is_same_v<Part, Tags>) {
    appendTags(line, part);
  } else {
    append(line, part());
  }
}

// The thread's line under construction, empty.
std::string& scratch();
// Fine-grain mode has levels per file as well.
bool isFileOn(const At& at, Level level);
void send(const At& at, Level level, std::string_view line);

template <typename... Parts>
[[gnu::noinline, gnu::cold]] void write(const At& at, Level level, const Parts&... parts) {
  if (!isFileOn(at, level)) return;
  std::string& line = scratch();
  (append(&line, parts), ...);
  send(at, level, line);
}

}  // namespace inside

// A line of someone who is not C++: names are copied, once each.
struct ForeignPlace {
  std::string_view file;
  uint32_t line;
  std::string_view function;
};
void write(Component component, Level level, const ForeignPlace& place, std::string_view line);

template <typename... Parts>
void trace(const At& at, const Parts&... parts) {
  if (isOn(at.component, Level::Trace)) [[unlikely]]
    inside::write(at, Level::Trace, parts...);
}
template <typename... Parts>
void debug(const At& at, const Parts&... parts) {
  if (isOn(at.component, Level::Debug)) [[unlikely]]
    inside::write(at, Level::Debug, parts...);
}
template <typename... Parts>
void info(const At& at, const Parts&... parts) {
  if (isOn(at.component, Level::Info)) inside::write(at, Level::Info, parts...);
}
template <typename... Parts>
void warn(const At& at, const Parts&... parts) {
  if (isOn(at.component, Level::Warning)) inside::write(at, Level::Warning, parts...);
}
template <typename... Parts>
void error(const At& at, const Parts&... parts) {
  if (isOn(at.component, Level::Error)) inside::write(at, Level::Error, parts...);
}

}  // namespace fairlead::log
