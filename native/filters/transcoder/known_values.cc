#include "filters/transcoder/known_values.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "filters/transcoder/ascii.h"

namespace fairlead::transcoder {

namespace {

constexpr int64_t kMinSeconds = -62135596800;
constexpr int64_t kMaxSeconds = 253402300799;
constexpr int64_t kMaxDurationSeconds = 315576000000;
constexpr int64_t kMinutesOfDay = 24 * 60;

// What is behind a point. Null, or what is wrong.
const char* parseNanos(std::string_view text, const char* no_number, const char* too_long,
                       int32_t* nanos) {
  *nanos = 0;
  for (const char c : text) {
    if (!isDigit(c)) return no_number;
  }
  if (text.size() > 9 && text.find_first_not_of('0') != std::string_view::npos) return too_long;
  for (size_t i = 0; i < 9; ++i) {
    *nanos = *nanos * 10 + (i < text.size() ? text[i] - '0' : 0);
  }
  return nullptr;
}

// Days since 1970-01-01 of a date of the Gregorian calendar.
int64_t daysOf(int64_t year, int month, int day) {
  // Years begin in March: leap days end them.
  if (month <= 2) --year;
  const int64_t era = (year >= 0 ? year : year - 399) / 400;
  const int64_t year_of_era = year - era * 400;
  const int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
         719468;
}

void dateOf(int64_t days, int64_t* year, int* month, int* day) {
  days += 719468;
  const int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const int64_t day_of_era = days - era * 146097;
  const int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  const int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t shifted = (5 * day_of_year + 2) / 153;
  *day = static_cast<int>(day_of_year - (153 * shifted + 2) / 5 + 1);
  *month = static_cast<int>(shifted + (shifted < 10 ? 3 : -9));
  *year = year_of_era + era * 400 + (*month <= 2 ? 1 : 0);
}

int daysOfMonth(int64_t year, int month) {
  if (month == 2) return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28;
  return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
}

// Takes parts of a time from the front of a text.
class TimeReader {
 public:
  explicit TimeReader(std::string_view text) : rest_(text) {}

  bool literal(char c) {
    if (rest_.empty() || rest_[0] != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  bool number(size_t digits, int64_t min, int64_t max, int64_t* value) {
    size_t size = 0;
    *value = 0;
    while (size < digits && size < rest_.size() && isDigit(rest_[size])) {
      *value = *value * 10 + (rest_[size++] - '0');
    }
    rest_.remove_prefix(size);
    return size > 0 && *value >= min && *value <= max;
  }
  bool isAtEnd() const { return rest_.empty(); }

 private:
  std::string_view rest_;
};

// Takes "Z" or "+01:30" from the end of a text. Absent: it has neither.
std::optional<int64_t> takeOffset(std::string_view* text) {
  if (text->ends_with('Z')) {
    text->remove_suffix(1);
    return 0;
  }
  if (text->size() < 6) return std::nullopt;
  TimeReader reader(text->substr(text->size() - 6));
  const bool is_behind = reader.literal('-');
  int64_t hours = 0;
  int64_t minutes = 0;
  if ((!is_behind && !reader.literal('+')) || !reader.number(2, 0, 23, &hours) ||
      !reader.literal(':') || !reader.number(2, 0, 59, &minutes) || !reader.isAtEnd()) {
    return std::nullopt;
  }
  text->remove_suffix(6);
  return (is_behind ? -1 : 1) * (hours * 60 + minutes) * 60;
}

// The point and what is behind it, in groups of three digits.
void appendFraction(std::string* out, int32_t nanos) {
  uint32_t fraction = static_cast<uint32_t>(nanos < 0 ? -int64_t{nanos} : nanos);
  int digits = 9;
  while (fraction % 1000 == 0) {
    fraction /= 1000;
    digits -= 3;
  }
  char text[24];
  std::snprintf(text, sizeof(text), ".%0*u", digits, fraction);
  out->append(text);
}

// ---- field masks ----

// What one of them may grow to: parts before parentheses are repeated for each path in them.
constexpr size_t kMaxMaskBytes = 1 << 20;
constexpr size_t kMaxMaskDepth = 100;

// An upper case letter begins a word, unless its neighbours are upper case, too.
void appendSnakeCase(std::string* out, std::string_view text) {
  bool after_word = false;
  bool after_upper = false;
  for (size_t i = 0; i < text.size(); ++i) {
    if (!isUpper(text[i])) {
      out->push_back(text[i]);
      after_word = text[i] != '_';
      after_upper = false;
      continue;
    }
    const bool begins = !after_upper || (i + 1 < text.size() && isLower(text[i + 1]));
    if (after_word && begins) out->push_back('_');
    out->push_back(static_cast<char>(text[i] - 'A' + 'a'));
    after_word = after_upper = true;
  }
}

// Names between dots; keys of maps ("a[\"b\"]") stay as they are.
std::string snakeCasePath(std::string_view path) {
  std::string result;
  size_t begin = 0;
  bool is_quoted = false;
  for (size_t i = 0; i < path.size(); ++i) {
    if (is_quoted && path[i] == '\\') {
      ++i;
      continue;
    }
    if (path[i] != '"' && (is_quoted || path[i] != '.')) continue;
    if (is_quoted) {
      result.append(path.substr(begin, i - begin));
    } else {
      appendSnakeCase(&result, path.substr(begin, i - begin));
    }
    if (path[i] == '"') is_quoted = !is_quoted;
    result.push_back(path[i]);
    begin = i + 1;
  }
  if (begin < path.size()) appendSnakeCase(&result, path.substr(begin));
  return result;
}

std::string joined(std::string_view prefix, std::string_view segment) {
  std::string result(prefix);
  if (!prefix.empty() && !segment.empty() && segment[0] != '[') result.push_back('.');
  result.append(segment);
  return result;
}

// Where the key of a map that begins at `at` ends, behind its bracket. Null: `*at` is set.
const char* skipMapKey(std::string_view text, size_t* at) {
  constexpr const char* kNoKey = "Map keys should be represented as [\"some_key\"].";
  if (*at + 1 >= text.size() || text[*at + 1] != '"') return kNoKey;
  size_t i = *at + 2;
  while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2 : 1;
  if (i >= text.size()) return "Cannot find matching ']' for all '['.";
  if (i + 1 >= text.size() || text[i + 1] != ']') return kNoKey;
  *at = i + 1;
  if (i + 2 < text.size() && std::string_view(".,()").find(text[i + 2]) == std::string_view::npos) {
    return "Map keys should be at the end of a path segment.";
  }
  return nullptr;
}

const char* readFieldMask(std::string_view text, std::vector<std::string>* paths) {
  std::vector<std::string> prefixes;
  size_t begin = 0;
  size_t bytes = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '[') {
      if (const char* wrong = skipMapKey(text, &i)) return wrong;
      continue;
    }
    if (c != ',' && c != '(' && c != ')') continue;
    const std::string_view segment = text.substr(begin, i - begin);
    begin = i + 1;
    const std::string_view prefix = prefixes.empty() ? std::string_view() : prefixes.back();
    if (c == '(' || !segment.empty()) {
      bytes += prefix.size() + segment.size();
      if (bytes > kMaxMaskBytes || prefixes.size() > kMaxMaskDepth) return "It is too large.";
    }
    if (c == '(') {
      prefixes.push_back(joined(prefix, segment));
      continue;
    }
    if (!segment.empty()) paths->push_back(snakeCasePath(joined(prefix, segment)));
    if (c == ')') {
      if (prefixes.empty()) return "Cannot find matching '(' for all ')'.";
      prefixes.pop_back();
    }
  }
  return prefixes.empty() ? nullptr : "Cannot find matching ')' for all '('.";
}

}  // namespace

std::string parseTimestamp(std::string_view text, int64_t* seconds, int32_t* nanos) {
  const std::optional<int64_t> offset = takeOffset(&text);
  if (!offset) {
    return "Illegal timestamp format; timestamps must end with 'Z' or have a valid timezone "
           "offset.";
  }
  const size_t point = text.rfind('.');
  const std::string_view fraction =
      point == std::string_view::npos ? std::string_view() : text.substr(point + 1);
  TimeReader reader(text.substr(0, point));
  int64_t year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  if (!reader.number(8, 0, 99999999, &year) || !reader.literal('-') ||
      !reader.number(2, 1, 12, &month) || !reader.literal('-') || !reader.number(2, 1, 31, &day) ||
      !reader.literal('T') || !reader.number(2, 0, 23, &hour) || !reader.literal(':') ||
      !reader.number(2, 0, 59, &minute) || !reader.literal(':') ||
      !reader.number(2, 0, 60, &second) || !reader.isAtEnd()) {
    return "Invalid time format: Failed to parse input";
  }
  if (day > daysOfMonth(year, static_cast<int>(month))) {
    return "Invalid time format: Out-of-range field";
  }
  if (const char* wrong = parseNanos(fraction, "Invalid time format, failed to parse nano seconds",
                                     "Timestamp value exceeds limits", nanos)) {
    return wrong;
  }
  *seconds = (daysOf(year, static_cast<int>(month), static_cast<int>(day)) * kMinutesOfDay +
              hour * 60 + minute) *
                 60 +
             second - *offset;
  if (*seconds < kMinSeconds || *seconds > kMaxSeconds) return "Timestamp value exceeds limits";
  return {};
}

std::string parseDuration(std::string_view text, int64_t* seconds, int32_t* nanos) {
  if (!text.ends_with('s')) return "Illegal duration format; duration must end with 's'";
  text.remove_suffix(1);
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  const size_t point = text.rfind('.');
  std::string_view whole = text.substr(0, point);
  if (whole.starts_with('+')) whole.remove_prefix(1);
  uint64_t number = 0;
  const char* const end = whole.data() + whole.size();
  const auto [at, error] = std::from_chars(whole.data(), end, number);
  if (whole.empty() || at != end || error != std::errc()) {
    return "Invalid duration format, failed to parse seconds";
  }
  const std::string_view fraction =
      point == std::string_view::npos ? std::string_view() : text.substr(point + 1);
  if (const char* wrong =
          parseNanos(fraction, "Invalid duration format, failed to parse nano seconds",
                     "Duration value exceeds limits", nanos)) {
    return wrong;
  }
  if (number > static_cast<uint64_t>(kMaxDurationSeconds)) return "Duration value exceeds limits";
  *seconds = static_cast<int64_t>(number) * (is_negative ? -1 : 1);
  if (is_negative) *nanos = -*nanos;
  return {};
}

std::string parseFieldMask(std::string_view text, std::vector<std::string>* paths) {
  const char* const wrong = readFieldMask(text, paths);
  if (!wrong) return {};
  return "Invalid FieldMask '" + std::string(text) + "'. " + wrong;
}

const char* appendTimestamp(std::string* out, int64_t seconds, int32_t nanos) {
  if (seconds < kMinSeconds) return "minimum acceptable time value is 0001-01-01T00:00:00Z";
  if (seconds > kMaxSeconds) return "maximum acceptable time value is 9999-12-31T23:59:59Z";
  const int64_t since = seconds - kMinSeconds;
  const int64_t of_day = since % 86400;
  int64_t year = 0;
  int month = 0, day = 0;
  dateOf(since / 86400 + kMinSeconds / 86400, &year, &month, &day);
  char text[64];
  std::snprintf(text, sizeof(text), "\"%04d-%02d-%02dT%02d:%02d:%02d", static_cast<int>(year),
                month, day, static_cast<int>(of_day / 3600), static_cast<int>(of_day / 60 % 60),
                static_cast<int>(of_day % 60));
  out->append(text);
  if (nanos != 0) appendFraction(out, nanos);
  out->append("Z\"");
  return nullptr;
}

const char* appendDuration(std::string* out, int64_t seconds, int32_t nanos) {
  if (seconds > kMaxDurationSeconds || seconds < -kMaxDurationSeconds || nanos > 999999999 ||
      nanos < -999999999) {
    return "duration out of range";
  }
  if (seconds != 0 && nanos != 0 && (seconds < 0) != (nanos < 0)) {
    return "nanos and seconds signs do not match";
  }
  out->push_back('"');
  if (seconds < 0 || nanos < 0) out->push_back('-');
  out->append(std::to_string(std::abs(seconds)));
  if (nanos != 0) appendFraction(out, nanos);
  out->append("s\"");
  return nullptr;
}

void appendMaskPath(std::string* out, std::string_view path) {
  bool after_underscore = false;
  for (const char c : path) {
    if (c == '_') {
      after_underscore = true;
      continue;
    }
    if (after_underscore && isLower(c)) {
      out->push_back(static_cast<char>(c - 'a' + 'A'));
    } else {
      if (after_underscore && !isDigit(c) && c != '.') out->push_back('_');
      out->push_back(c);
    }
    after_underscore = false;
  }
}

}  // namespace fairlead::transcoder
