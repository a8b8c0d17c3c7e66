#include "format/time_format.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace fairlead::format {

namespace {

constexpr uint64_t kMicros = 1'000'000;
constexpr uint64_t kDaySeconds = 86'400;
constexpr uint8_t kMaxDigits = 18;
// strftime() says 0 both for nothing and for too little room.
constexpr size_t kStrftimeBytes = 256;
constexpr size_t kMaxStrftimeBytes = 16 * 1024;

bool isDigit(char c) { return c >= '0' && c <= '9'; }

// `width` digits, zeros first.
char* writeDigits(char* to, uint64_t value, int width) {
  for (int i = width - 1; i >= 0; --i) {
    to[i] = static_cast<char>('0' + value % 10);
    value /= 10;
  }
  return to + width;
}

struct Date {
  uint64_t year;
  uint64_t month;
  uint64_t day;
};

// Of days since 1970. The year is counted from March, so that leap days come last; 400 years are an
// era of 146,097 days.
Date dateOf(uint64_t days) {
  days += 719'468;
  const uint64_t era = days / 146'097;
  const uint64_t day_of_era = days % 146'097;
  const uint64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const uint64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const uint64_t month = (5 * day_of_year + 2) / 153;
  const uint64_t day = day_of_year - (153 * month + 2) / 5 + 1;
  const bool is_next_year = month >= 10;
  return {era * 400 + year_of_era + (is_next_year ? 1 : 0), is_next_year ? month - 9 : month + 3,
          day};
}

void appendDefault(uint64_t wall_us, std::string* out) {
  const uint64_t seconds = wall_us / kMicros;
  const Date date = dateOf(seconds / kDaySeconds);
  const uint64_t of_day = seconds % kDaySeconds;
  char text[32];
  char* at = writeDigits(text, date.year, 4);
  *at++ = '-';
  at = writeDigits(at, date.month, 2);
  *at++ = '-';
  at = writeDigits(at, date.day, 2);
  *at++ = 'T';
  at = writeDigits(at, of_day / 3600, 2);
  *at++ = ':';
  at = writeDigits(at, of_day / 60 % 60, 2);
  *at++ = ':';
  at = writeDigits(at, of_day % 60, 2);
  *at++ = '.';
  at = writeDigits(at, wall_us % kMicros / 1000, 3);
  *at++ = 'Z';
  out->append(text, at);
}

void appendFraction(uint64_t wall_us, size_t digits, std::string* out) {
  char text[6];
  writeDigits(text, wall_us % kMicros, 6);
  out->append(text, std::min<size_t>(digits, 6));
  if (digits > 6) out->append(digits - 6, '0');
}

size_t shortDigits(uint64_t wall_us) {
  uint64_t fraction = wall_us % kMicros;
  if (fraction == 0) return 0;
  size_t digits = 6;
  for (; fraction % 10 == 0; fraction /= 10) --digits;
  return digits;
}

void appendSeconds(uint64_t wall_us, size_t digits, std::string* out) {
  char text[2];
  out->append(text, writeDigits(text, wall_us / kMicros % 60, 2));
  if (digits == 0) return;
  out->push_back('.');
  appendFraction(wall_us, digits, out);
}

void appendStrftime(const std::string& format, const std::tm& utc, std::string* out) {
  char text[kStrftimeBytes];
  if (const size_t size = std::strftime(text, sizeof(text), format.c_str(), &utc); size > 0) {
    out->append(text, size);
    return;
  }
  const size_t start = out->size();
  out->resize(start + kMaxStrftimeBytes);
  const size_t size = std::strftime(out->data() + start, kMaxStrftimeBytes, format.c_str(), &utc);
  out->resize(start + size);
}

void appendOffset(long seconds, bool with_seconds, std::string* out) {
  out->push_back(seconds < 0 ? '-' : '+');
  const uint64_t size = static_cast<uint64_t>(std::abs(seconds));
  char text[8];
  char* at = writeDigits(text, size / 3600, 2);
  *at++ = ':';
  at = writeDigits(at, size / 60 % 60, 2);
  if (with_seconds) {
    *at++ = ':';
    at = writeDigits(at, size % 60, 2);
  }
  out->append(text, at);
}

}  // namespace

TimeFormat::TimeFormat(std::string_view format, bool is_local) : is_local_(is_local) {
  if (is_local && format.empty()) format = "%Y-%m-%dT%H:%M:%E3S%z";
  while (!format.empty()) {
    const size_t percent = std::min(format.find('%'), format.size());
    if (percent > 0) addText(format.substr(0, percent));
    format.remove_prefix(percent);
    if (format.empty()) return;
    if (const size_t own = parseOwn(format.substr(1)); own > 0) {
      format.remove_prefix(1 + own);
    } else {
      // strftime's business; with the letter after it, so that "%%f" is no fraction.
      const std::string_view pair = format.substr(0, 2);
      // A percent sign at the end stands for itself.
      addText(pair.size() == 2 ? pair : "%%");
      format.remove_prefix(pair.size());
    }
  }
}

void TimeFormat::addText(std::string_view text) {
  if (parts_.empty() || parts_.back().kind != Part::Kind::Strftime) {
    parts_.push_back({Part::Kind::Strftime});
  }
  parts_.back().text.append(text);
}

size_t TimeFormat::parseOwn(std::string_view text) {
  const auto add = [this](Part::Kind kind, uint8_t digits = 0) {
    parts_.push_back({kind, digits});
  };
  const bool is_extended = text.starts_with('E');
  size_t at = is_extended ? 1 : 0;
  const bool is_short = is_extended && text.substr(at).starts_with('*');
  if (is_short) ++at;
  const size_t digits_at = at;
  uint32_t digits = 0;
  while (at < text.size() && isDigit(text[at]) && at - digits_at < 3) {
    digits = digits * 10 + static_cast<uint32_t>(text[at++] - '0');
  }
  const bool has_digits = at > digits_at;
  if (at == text.size() || (is_short && has_digits)) return 0;
  const uint8_t width = static_cast<uint8_t>(std::min<uint32_t>(digits, kMaxDigits));
  switch (text[at]) {
    case 'f':
      if (is_short) {
        add(Part::Kind::ShortFraction);
      } else if (is_extended) {
        if (!has_digits) return 0;
        add(Part::Kind::Fraction, width);
      } else {
        if (has_digits && (digits == 0 || digits > 9)) return 0;
        add(Part::Kind::Fraction, has_digits ? width : 9);
      }
      return at + 1;
    case 'S':
      if (is_short) {
        add(Part::Kind::ShortSeconds);
      } else if (is_extended && has_digits) {
        add(Part::Kind::Seconds, width);
      } else {
        return 0;
      }
      return at + 1;
    case 's':
      if (is_short || (is_extended && has_digits)) return 0;
      add(Part::Kind::EpochSeconds, width);
      return at + 1;
    case 'z':
      if (!is_extended || has_digits) return 0;
      add(Part::Kind::Offset, is_short ? 1 : 0);
      return at + 1;
    case 'Y':
      if (!is_extended || digits != 4) return 0;
      addText("%Y");
      return at + 1;
    case 'T':
      if (!is_extended || is_short || has_digits) return 0;
      addText("T");
      return at + 1;
    default:
      return 0;
  }
}

void TimeFormat::append(uint64_t wall_us, std::string* out) const {
  if (parts_.empty()) return appendDefault(wall_us, out);
  const std::time_t seconds = static_cast<std::time_t>(wall_us / kMicros);
  std::tm time;
  if (is_local_) {
    ::localtime_r(&seconds, &time);
  } else {
    ::gmtime_r(&seconds, &time);
    time.tm_zone = "UTC";
  }
  for (const Part& part : parts_) appendPart(part, wall_us, time, out);
}

void TimeFormat::appendPart(const Part& part, uint64_t wall_us, const std::tm& time,
                            std::string* out) {
  switch (part.kind) {
    case Part::Kind::Strftime:
      return appendStrftime(part.text, time, out);
    case Part::Kind::Fraction:
      return appendFraction(wall_us, part.digits, out);
    case Part::Kind::ShortFraction:
      return appendFraction(wall_us, std::max<size_t>(shortDigits(wall_us), 1), out);
    case Part::Kind::Seconds:
      return appendSeconds(wall_us, part.digits, out);
    case Part::Kind::ShortSeconds:
      return appendSeconds(wall_us, shortDigits(wall_us), out);
    case Part::Kind::Offset:
      return appendOffset(time.tm_gmtoff, part.digits > 0, out);
    case Part::Kind::EpochSeconds: {
      char text[24];
      const auto end = std::to_chars(text, text + sizeof(text), wall_us / kMicros).ptr;
      const size_t size = static_cast<size_t>(end - text);
      if (size < part.digits) out->append(part.digits - size, ' ');
      out->append(text, size);
      return;
    }
  }
}

}  // namespace fairlead::format
