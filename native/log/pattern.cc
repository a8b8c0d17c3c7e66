#include "log/pattern.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>

#include "base/json.h"
#include "log/escape.h"

namespace fairlead::log {

namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr size_t kWidest = 64;
constexpr std::string_view kFlags = "nlLtvaAbhBcCYDxmdHIMSefFEprRTXzP^$@sg#!%uioO&_j*+";
constexpr std::array<std::string_view, 7> kDays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                   "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 12> kMonths = {
    "January", "February", "March",     "April",   "May",      "June",
    "July",    "August",   "September", "October", "November", "December"};
// "Sat Nov 21 09:13:49 2026": %c counts as this long, also when the day has one digit.
constexpr size_t kDateTimeSize = 24;

bool isDigit(char c) { return c >= '0' && c <= '9'; }

std::string digitsOf(int64_t number, size_t digits) {
  std::string text = std::to_string(number);
  if (text.size() < digits) text.insert(0, digits - text.size(), '0');
  return text;
}
std::string two(int number) { return digitsOf(number, 2); }

// Midnight is 00, as spdlog has it.
int hour12(const std::tm& time) { return time.tm_hour > 12 ? time.tm_hour - 12 : time.tm_hour; }
std::string_view noon(const std::tm& time) { return time.tm_hour >= 12 ? "PM" : "AM"; }
std::string hourMinute(const std::tm& time) { return two(time.tm_hour) + ':' + two(time.tm_min); }
std::string clock(const std::tm& time) { return hourMinute(time) + ':' + two(time.tm_sec); }

std::string dateTime(const std::tm& time) {
  std::string text;
  text += kDays[time.tm_wday].substr(0, 3);
  text += ' ';
  text += kMonths[time.tm_mon].substr(0, 3);
  return text + ' ' + std::to_string(time.tm_mday) + ' ' + clock(time) + ' ' +
         std::to_string(time.tm_year + 1900);
}

std::string offset(const std::tm& time) {
  const int minutes = static_cast<int>(time.tm_gmtoff / 60);
  const int size = minutes < 0 ? -minutes : minutes;
  return (minutes < 0 ? '-' : '+') + two(size / 60) + ':' + two(size % 60);
}

std::string_view baseName(std::string_view file) { return file.substr(file.rfind('/') + 1); }

// "handle" of "void fairlead::X::handle(int)"; "handle" of "handle".
std::string_view plainName(std::string_view function) {
  const std::string_view name = function.substr(0, function.find('('));
  return name.substr(name.find_last_of(": ") + 1);
}

constexpr std::string_view kTagsBegin = "[Tags: ";
constexpr std::string_view kTagsEnd = "\"] ";

// Where the message proper begins: behind its tags, if it has any.
size_t messageStart(std::string_view text) {
  if (!text.starts_with(kTagsBegin)) return 0;
  const size_t end = text.find(kTagsEnd);
  return end == std::string_view::npos ? 0 : end + kTagsEnd.size();
}

int64_t nowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Pattern::Pattern(std::string_view pattern, bool escapes) : escapes_(escapes), last_ns_(nowNs()) {
  compile(pattern);
}

void Pattern::compile(std::string_view pattern) {
  size_t at = 0;
  while (at < pattern.size()) {
    if (pattern[at] != '%') {
      const size_t end = std::min(pattern.find('%', at), pattern.size());
      addText(pattern.substr(at, end - at));
      at = end;
      continue;
    }
    ++at;
    Pad pad;
    if (at < pattern.size() && (pattern[at] == '-' || pattern[at] == '=')) {
      pad.side = pattern[at++] == '-' ? Side::Right : Side::Center;
    }
    if (at < pattern.size() && isDigit(pattern[at])) {
      while (at < pattern.size() && isDigit(pattern[at])) {
        pad.width = std::min(kWidest, pad.width * 10 + static_cast<size_t>(pattern[at++] - '0'));
      }
      if (at < pattern.size() && pattern[at] == '!') {
        pad.cuts = true;
        ++at;
      }
    }
    // A flag that does not come any more is dropped.
    if (at < pattern.size()) addFlag(pattern[at++], pad);
  }
}

void Pattern::addText(std::string_view text) {
  if (parts_.empty() || parts_.back().flag != '\0') parts_.push_back({});
  parts_.back().text += text;
}

void Pattern::addFlag(char flag, Pad pad) {
  if (flag == '%') return addText("%");
  if (flag == '^' || flag == '$') return;  // The borders of what a terminal would show in colour.
  if (kFlags.find(flag) != std::string_view::npos) {
    parts_.push_back({flag, pad, {}});
  } else if (pad.cuts) {
    // "%10!]": the exclamation mark was the flag.
    pad.cuts = false;
    parts_.push_back({'!', pad, {}});
    addText({&flag, 1});
  } else {
    addText({std::array{'%', flag}.data(), 2});
  }
}

void Pattern::format(const Record& record, std::string* out) {
  setTime(record);
  const size_t start = out->size();
  for (const Part& part : parts_) formatPart(part, record, out);
  out->push_back('\n');
  if (!escapes_) return;
  const std::string escaped = escapeLine(std::string_view(*out).substr(start));
  out->replace(start, std::string::npos, escaped);
}

void Pattern::setTime(const Record& record) {
  elapsed_ns_ = std::max<int64_t>(0, record.time_ns - last_ns_);
  last_ns_ = record.time_ns;
  const int64_t second = record.time_ns / kSecond;
  nanoseconds_ = record.time_ns % kSecond;
  if (second == second_) return;
  second_ = second;
  const std::time_t time = second;
  ::localtime_r(&time, &local_);
}

void Pattern::formatPart(const Part& part, const Record& record, std::string* out) {
  if (part.flag == '\0') {
    out->append(part.text);
    return;
  }
  if (formatMessage(part, record, out) || formatDate(part, record, out) ||
      formatTime(part, record, out)) {
    return;
  }
  formatSource(part, record, out);
}

bool Pattern::formatMessage(const Part& part, const Record& record, std::string* out) {
  switch (part.flag) {
    case 'v':
      add(part.pad, record.text, out);
      return true;
    // The rest of these take no width.
    case '_':
      for (const char c : record.text) {
        if (c == '\n') {
          out->append("\\n");
        } else {
          out->push_back(c);
        }
      }
      return true;
    case 'j':
      appendJsonEscaped(out, record.text);
      return true;
    case '+':
      appendJsonEscaped(out, record.text.substr(messageStart(record.text)));
      return true;
    case '*':
      if (const size_t start = messageStart(record.text); start > 0) {
        const size_t size = start - kTagsBegin.size() - kTagsEnd.size() + 1;
        out->push_back(',');
        out->append(record.text.substr(kTagsBegin.size(), size));
      }
      return true;
    default:
      return false;
  }
}

bool Pattern::formatDate(const Part& part, const Record& record, std::string* out) {
  const Pad& pad = part.pad;
  switch (part.flag) {
    case 'a':
      return add(pad, kDays[local_.tm_wday].substr(0, 3), out), true;
    case 'A':
      return add(pad, kDays[local_.tm_wday], out), true;
    case 'b':
    case 'h':
      return add(pad, kMonths[local_.tm_mon].substr(0, 3), out), true;
    case 'B':
      return add(pad, kMonths[local_.tm_mon], out), true;
    case 'c':
      return add(pad, dateTime(local_), kDateTimeSize, out), true;
    case 'C':
      return addNumber(pad, local_.tm_year % 100, 2, out), true;
    case 'Y':
      return addNumber(pad, local_.tm_year + 1900, 4, out), true;
    case 'D':
    case 'x':
      return add(pad,
                 two(local_.tm_mon + 1) + '/' + two(local_.tm_mday) + '/' +
                     two(local_.tm_year % 100),
                 out),
             true;
    case 'm':
      return addNumber(pad, local_.tm_mon + 1, 2, out), true;
    case 'd':
      return addNumber(pad, local_.tm_mday, 2, out), true;
    default:
      return false;
  }
}

bool Pattern::formatTime(const Part& part, const Record& record, std::string* out) {
  const Pad& pad = part.pad;
  switch (part.flag) {
    case 'H':
      return addNumber(pad, local_.tm_hour, 2, out), true;
    case 'I':
      return addNumber(pad, hour12(local_), 2, out), true;
    case 'M':
      return addNumber(pad, local_.tm_min, 2, out), true;
    case 'S':
      return addNumber(pad, local_.tm_sec, 2, out), true;
    case 'e':
      return addNumber(pad, nanoseconds_ / 1'000'000, 3, out), true;
    case 'f':
      return addNumber(pad, nanoseconds_ / 1'000, 6, out), true;
    case 'F':
      return addNumber(pad, nanoseconds_, 9, out), true;
    case 'E':
      return addNumber(pad, second_, 1, out), true;
    case 'p':
      return add(pad, noon(local_), out), true;
    case 'r':
      return add(pad,
                 two(hour12(local_)) + ':' + two(local_.tm_min) + ':' + two(local_.tm_sec) + ' ' +
                     std::string(noon(local_)),
                 out),
             true;
    case 'R':
      return add(pad, hourMinute(local_), out), true;
    case 'T':
    case 'X':
      return add(pad, clock(local_), out), true;
    case 'z':
      return add(pad, offset(local_), out), true;
    case 'u':
      return addNumber(pad, elapsed_ns_, 1, out), true;
    case 'i':
      return addNumber(pad, elapsed_ns_ / 1'000, 1, out), true;
    case 'o':
      return addNumber(pad, elapsed_ns_ / 1'000'000, 1, out), true;
    case 'O':
      return addNumber(pad, elapsed_ns_ / kSecond, 1, out), true;
    default:
      return false;
  }
}

bool Pattern::formatSource(const Part& part, const Record& record, std::string* out) {
  const Pad& pad = part.pad;
  const bool known = !record.file.empty();
  switch (part.flag) {
    case 'n':
      return add(pad, record.logger, out), true;
    case 'l':
      return add(pad, nameOf(record.level), out), true;
    case 'L': {
      const char letter = letterOf(record.level);
      return add(pad, {&letter, 1}, out), true;
    }
    case 't':
      return addNumber(pad, record.thread, 1, out), true;
    case 'P':
      return addNumber(pad, ::getpid(), 1, out), true;
    case 'g':
      return add(pad, record.file, out), true;
    case 's':
      return add(pad, baseName(record.file), out), true;
    case '#':
      return add(pad, known ? std::to_string(record.line) : "", out), true;
    case '@':
      return add(pad, known ? std::string(record.file) + ':' + std::to_string(record.line) : "",
                 out),
             true;
    case '!':
      return add(pad, plainName(record.function), out), true;
    // '&': a context that lines do not have.
    default:
      return add(pad, "", out), true;
  }
}

void Pattern::add(const Pad& pad, std::string_view text, size_t size, std::string* out) {
  if (size >= pad.width) {
    out->append(text);
    const size_t over = std::min(size - pad.width, text.size());
    if (pad.cuts && pad.width > 0) out->resize(out->size() - over);
    return;
  }
  const size_t blanks = pad.width - size;
  const size_t before = pad.side == Side::Left ? blanks : pad.side == Side::Center ? blanks / 2 : 0;
  out->append(before, ' ');
  out->append(text);
  out->append(blanks - before, ' ');
}

void Pattern::addNumber(const Pad& pad, int64_t number, size_t digits, std::string* out) {
  std::array<char, 24> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  const std::string_view written(text.data(), static_cast<size_t>(end - text.data()));
  if (written.size() >= digits) return add(pad, written, out);
  add(pad, std::string(digits - written.size(), '0') + std::string(written), out);
}

}  // namespace fairlead::log
