// Lines of a log file with the moments at which what they tell of ended. Whoever appends has them
// to himself; so has whoever they are given to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace fairlead::log_files {

class LogLines {
 public:
  // Where the next line goes; call lineDone() after appending to it. No moment is before that of
  // the line before it. Returns the line's length.
  std::string* text() { return &text_; }
  size_t lineDone(uint64_t ended_ns);

  bool empty() const { return marks_.empty(); }
  size_t size() const { return text_.size(); }
  size_t capacity() const { return text_.capacity() + marks_.capacity() * sizeof(Mark); }
  void clear();

  // Moves all lines that ended until then to `taken`, which is empty.
  void takeUntil(uint64_t until_ns, LogLines* taken);
  void append(const LogLines& later);
  // The lines of all in the order of their ends: either in `merged`, which is overwritten, or in
  // the only one of them that has any.
  static std::string_view inOrder(const std::vector<LogLines>& parts, std::string* merged);

 private:
  struct Mark {
    uint64_t ended_ns;
    // Of its line, in the text.
    size_t end;
  };
  size_t begin(size_t line) const { return line == 0 ? 0 : marks_[line - 1].end; }

  std::string text_;
  std::vector<Mark> marks_;
};

}  // namespace fairlead::log_files
