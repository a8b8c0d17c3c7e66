#include "log/log.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <mutex>
#include <unordered_set>

#include "log/sink.h"

namespace fairlead::log {

namespace {

std::atomic<bool> is_fine_grain{false};

FileLevels& fileLevels() {
  static auto& levels = *new FileLevels;
  return levels;
}

uint32_t threadId() {
  thread_local const auto id = static_cast<uint32_t>(::syscall(SYS_gettid));
  return id;
}

int64_t timeNow() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// "native/net/listener.cc", however the compiler was given it.
std::string_view inPackage(std::string_view file) {
  const size_t at = file.rfind("native/");
  return at == std::string_view::npos ? file : file.substr(at);
}

// A copy that lives as long as the process. Few: names of source files and of functions.
std::string_view keep(std::string_view text) {
  static auto& mutex = *new std::mutex;
  static auto& kept = *new std::unordered_set<std::string>;
  const std::lock_guard lock(mutex);
  return *kept.emplace(text).first;
}

// The file's logger; found without a lock once the thread knows it.
const FileLogger& fileLogger(std::string_view file, Component component) {
  struct Slot {
    const char* file = nullptr;
    Component component{};
    const FileLogger* logger = nullptr;
  };
  thread_local std::array<Slot, 128> slots;
  const size_t hash = reinterpret_cast<uintptr_t>(file.data()) / 8 * 31 + size_t(component);
  Slot& slot = slots[hash % slots.size()];
  if (slot.file != file.data() || slot.component != component) {
    slot = {file.data(), component, &fileLevels().logger(inPackage(file), component)};
  }
  return *slot.logger;
}

Record recordOf(Component component, Level level, std::string_view file, std::string_view text) {
  Record record;
  record.time_ns = timeNow();
  record.thread = threadId();
  record.level = level;
  record.file = inPackage(file);
  record.logger = is_fine_grain.load(std::memory_order_relaxed)
                      ? std::string_view(fileLogger(file, component).name)
                      : nameOf(component);
  record.text = text;
  return record;
}

bool isFileOn(std::string_view file, Component component, Level level) {
  if (!is_fine_grain.load(std::memory_order_relaxed)) return true;
  return fileLogger(file, component).level.load(std::memory_order_relaxed) <= level;
}

}  // namespace

FileLevels& enableFineGrain(Level level) {
  fileLevels().setLevel(level);
  is_fine_grain.store(true, std::memory_order_relaxed);
  for (Threshold& threshold : thresholds) threshold.level = Level::Trace;
  return fileLevels();
}

void write(Component component, Level level, const ForeignPlace& place, std::string_view line) {
  const std::string_view file = keep(place.file);
  if (!isFileOn(file, component, level)) return;
  Record record = recordOf(component, level, file, line);
  record.line = place.line;
  record.function = keep(place.function);
  Sink::get().send(record);
}

namespace inside {

void appendTags(std::string* line, const Tags& tags) {
  line->append("[Tags: ");
  if (tags.connection) append(line, "\"ConnectionId\":\""), append(line, *tags.connection);
  if (tags.connection && tags.stream) line->append("\",");
  if (tags.stream) append(line, "\"StreamId\":\""), append(line, *tags.stream);
  line->append("\"] ");
}

std::string& scratch() {
  thread_local std::string line;
  line.clear();
  return line;
}

bool isFileOn(const At& at, Level level) {
  return log::isFileOn(at.place.file_name(), at.component, level);
}

void send(const At& at, Level level, std::string_view line) {
  Record record = recordOf(at.component, level, at.place.file_name(), line);
  record.line = at.place.line();
  record.function = at.place.function_name();
  Sink::get().send(record);
}

}  // namespace inside

}  // namespace fairlead::log
