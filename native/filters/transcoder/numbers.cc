#include "filters/transcoder/numbers.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

namespace fairlead::transcoder {

namespace {

template <typename Number>
std::string textOf(Number value, int digits, int more_digits) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  char text[40];
  for (const int precision : {digits, more_digits}) {
    const auto [end, error] =
        std::to_chars(text, text + sizeof(text), value, std::chars_format::general, precision);
    Number again = 0;
    std::from_chars(text, end, again);
    if (again == value || precision == more_digits) {
      return std::string(text, static_cast<size_t>(end - text));
    }
  }
  return {};
}

}  // namespace

std::string numberText(double value) { return textOf(value, 15, 17); }
std::string numberText(float value) { return textOf(value, 6, 9); }

bool parseNumber(std::string_view text, double* value) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return false;
  }
  const std::string_view digits = text.starts_with('-') ? text.substr(1) : text;
  if (digits.empty() || (digits[0] != '.' && (digits[0] < '0' || digits[0] > '9'))) return false;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, *value);
  if (at != end || error == std::errc::invalid_argument) return false;
  if (error == std::errc::result_out_of_range) {
    // Too large or too small: only the exponent, and how many digits there are, say which.
    *value = std::strtod(std::string(text).c_str(), nullptr);
  }
  return true;
}

}  // namespace fairlead::transcoder
