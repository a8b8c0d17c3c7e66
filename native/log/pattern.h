// The form of log lines in spdlog's language ("[%Y-%m-%d %T.%e][%t][%l][%n] %v"), compiled to a
// list of parts. One thread's.
#pragma once

#include <ctime>
#include <string>
#include <string_view>
#include <vector>

#include "log/record.h"

namespace fairlead::log {

class Pattern {
 public:
  // Never fails: a flag that means nothing stays as it is written.
  // `escapes`: lines are written as C would write them, up to the white space at their end.
  explicit Pattern(std::string_view pattern, bool escapes = false);

  // Appends the line and its end.
  void format(const Record& record, std::string* out);

 private:
  enum class Side : uint8_t { Left, Right, Center };
  // Where blanks go, and how many characters there shall be; 0: as many as there are.
  struct Pad {
    size_t width = 0;
    Side side = Side::Left;
    bool cuts = false;
  };
  struct Part {
    // '\0': `text` as it is.
    char flag = '\0';
    Pad pad;
    std::string text;
  };

  void compile(std::string_view pattern);
  void addText(std::string_view text);
  void addFlag(char flag, Pad pad);
  void formatPart(const Part& part, const Record& record, std::string* out);
  bool formatDate(const Part& part, const Record& record, std::string* out);
  bool formatTime(const Part& part, const Record& record, std::string* out);
  bool formatSource(const Part& part, const Record& record, std::string* out);
  bool formatMessage(const Part& part, const Record& record, std::string* out);
  void setTime(const Record& record);
  // Appends with blanks; `size`: what counts as the size of the text.
  static void add(const Pad& pad, std::string_view text, size_t size, std::string* out);
  static void add(const Pad& pad, std::string_view text, std::string* out) {
    add(pad, text, text.size(), out);
  }
  static void addNumber(const Pad& pad, int64_t number, size_t digits, std::string* out);

  std::vector<Part> parts_;
  bool escapes_;
  // Of the record that is being formatted: its whole seconds, the rest, and the time where we are.
  int64_t second_ = -1;
  int64_t nanoseconds_ = 0;
  std::tm local_ = {};
  // Since the line before, or since the pattern was made.
  int64_t last_ns_;
  int64_t elapsed_ns_ = 0;
};

}  // namespace fairlead::log
