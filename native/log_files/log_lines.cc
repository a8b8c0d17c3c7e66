#include "log_files/log_lines.h"

#include <algorithm>

namespace fairlead::log_files {

size_t LogLines::lineDone(uint64_t ended_ns) {
  const size_t length = text_.size() - begin(marks_.size());
  marks_.push_back({ended_ns, text_.size()});
  return length;
}

void LogLines::clear() {
  text_.clear();
  marks_.clear();
}

void LogLines::takeUntil(uint64_t until_ns, LogLines* taken) {
  std::swap(*this, *taken);
  // There are few, or none.
  size_t first_kept = taken->marks_.size();
  while (first_kept > 0 && taken->marks_[first_kept - 1].ended_ns > until_ns) --first_kept;
  const size_t cut = taken->begin(first_kept);
  text_.append(taken->text_, cut);
  for (size_t i = first_kept; i < taken->marks_.size(); ++i) {
    marks_.push_back({taken->marks_[i].ended_ns, taken->marks_[i].end - cut});
  }
  taken->text_.resize(cut);
  taken->marks_.resize(first_kept);
}

void LogLines::append(const LogLines& later) {
  for (const Mark& mark : later.marks_) {
    marks_.push_back({mark.ended_ns, text_.size() + mark.end});
  }
  text_ += later.text_;
}

std::string_view LogLines::inOrder(const std::vector<LogLines>& parts, std::string* merged) {
  struct Rest {
    const LogLines* lines;
    size_t next;
    uint64_t ended_ns() const { return lines->marks_[next].ended_ns; }
  };
  std::vector<Rest> rests;
  for (const LogLines& part : parts) {
    if (!part.empty()) rests.push_back({&part, 0});
  }
  if (rests.empty()) return {};
  if (rests.size() == 1) return rests.front().lines->text_;
  merged->clear();
  while (!rests.empty()) {
    size_t first = 0;
    for (size_t i = 1; i < rests.size(); ++i) {
      if (rests[i].ended_ns() < rests[first].ended_ns()) first = i;
    }
    // Its lines until another's is next lie together.
    uint64_t until_ns = UINT64_MAX;
    for (size_t i = 0; i < rests.size(); ++i) {
      if (i != first) until_ns = std::min(until_ns, rests[i].ended_ns());
    }
    Rest& rest = rests[first];
    const size_t begin = rest.lines->begin(rest.next);
    const size_t count = rest.lines->marks_.size();
    while (rest.next < count && rest.ended_ns() <= until_ns) ++rest.next;
    merged->append(rest.lines->text_, begin, rest.lines->begin(rest.next) - begin);
    if (rest.next == count) rests.erase(rests.begin() + static_cast<ptrdiff_t>(first));
  }
  return *merged;
}

}  // namespace fairlead::log_files
