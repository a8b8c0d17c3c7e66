#include "caches/http_date.h"

#include <array>
#include <chrono>

namespace fairlead::caches {

namespace {

constexpr std::array<std::string_view, 12> kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                      "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::array<std::string_view, 7> kDays = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                   "Thursday", "Friday", "Saturday"};

// What is left of a date, read from its start; false once it is none.
class DateReader {
 public:
  explicit DateReader(std::string_view text) : rest_(text) {}

  bool skip(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }
  // Of so many digits; a blank may stand for the first one.
  bool number(size_t digits, int* out, bool may_be_padded = false) {
    if (rest_.size() < digits) return false;
    *out = 0;
    for (size_t i = 0; i < digits; ++i) {
      const char c = rest_[i];
      if (i == 0 && may_be_padded && c == ' ') continue;
      if (c < '0' || c > '9') return false;
      *out = *out * 10 + (c - '0');
    }
    rest_.remove_prefix(digits);
    return true;
  }
  bool month(unsigned* out) {
    for (unsigned i = 0; i < kMonths.size(); ++i) {
      if (!skip(kMonths[i])) continue;
      *out = i + 1;
      return true;
    }
    return false;
  }
  bool day(bool is_short) {
    for (const std::string_view day : kDays) {
      if (skip(is_short ? day.substr(0, 3) : day)) return true;
    }
    return false;
  }
  bool time(int* seconds) {
    int hour = 0;
    int minute = 0;
    int second = 0;
    if (!number(2, &hour) || !skip(":") || !number(2, &minute) || !skip(":") ||
        !number(2, &second) || hour > 23 || minute > 59 || second > 60) {
      return false;
    }
    *seconds = hour * 3600 + minute * 60 + second;
    return true;
  }
  bool isAtEnd() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

struct Moment {
  int year = 0;
  unsigned month = 1;
  int day = 0;
  int seconds = 0;
};

// "Sun, 06 Nov 1994 08:49:37 GMT"
bool readFixed(DateReader in, Moment* out) {
  return in.day(true) && in.skip(", ") && in.number(2, &out->day) && in.skip(" ") &&
         in.month(&out->month) && in.skip(" ") && in.number(4, &out->year) && in.skip(" ") &&
         in.time(&out->seconds) && in.skip(" GMT") && in.isAtEnd();
}

// "Sunday, 06-Nov-94 08:49:37 GMT": RFC 850.
bool readOld(DateReader in, Moment* out) {
  if (!in.day(false) || !in.skip(", ") || !in.number(2, &out->day) || !in.skip("-") ||
      !in.month(&out->month) || !in.skip("-") || !in.number(2, &out->year) || !in.skip(" ") ||
      !in.time(&out->seconds) || !in.skip(" GMT") || !in.isAtEnd()) {
    return false;
  }
  // As strptime() has it.
  out->year += out->year < 69 ? 2000 : 1900;
  return true;
}

// "Sun Nov  6 08:49:37 1994": asctime().
bool readAscii(DateReader in, Moment* out) {
  return in.day(true) && in.skip(" ") && in.month(&out->month) && in.skip(" ") &&
         in.number(2, &out->day, true) && in.skip(" ") && in.time(&out->seconds) && in.skip(" ") &&
         in.number(4, &out->year) && in.isAtEnd();
}

}  // namespace

std::optional<int64_t> parseHttpDate(std::string_view text) {
  Moment moment;
  const DateReader in(text);
  if (!readFixed(in, &moment) && !readOld(in, &moment) && !readAscii(in, &moment)) {
    return std::nullopt;
  }
  using namespace std::chrono;
  const year_month_day date(year(moment.year), month(moment.month),
                            day(static_cast<unsigned>(moment.day)));
  if (!date.ok()) return std::nullopt;
  return int64_t{sys_days(date).time_since_epoch().count()} * 86'400 + moment.seconds;
}

}  // namespace fairlead::caches
