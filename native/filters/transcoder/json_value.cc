#include "filters/transcoder/json_value.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <type_traits>

#include "base/text.h"
#include "filters/transcoder/ascii.h"
#include "filters/transcoder/numbers.h"

namespace fairlead::transcoder {

namespace {

// A number in a string may have blanks around it, but for spaces.
std::optional<std::string_view> trimmed(std::string_view text) {
  if (text.starts_with(' ') || text.ends_with(' ')) return std::nullopt;
  while (!text.empty() && isSpace(text.front())) text.remove_prefix(1);
  while (!text.empty() && isSpace(text.back())) text.remove_suffix(1);
  return text;
}

template <typename To>
std::optional<To> parseInteger(std::string_view text) {
  const std::optional<std::string_view> number = trimmed(text);
  if (!number || number->empty()) return std::nullopt;
  std::string_view digits = *number;
  if (digits.starts_with('+')) {
    digits.remove_prefix(1);
    if (digits.starts_with('-')) return std::nullopt;
  }
  To result = 0;
  const char* const end = digits.data() + digits.size();
  const auto [at, error] = std::from_chars(digits.data(), end, result);
  if (at != end || error != std::errc()) return std::nullopt;
  return result;
}

// Without a value that is not the number itself.
template <typename To>
std::optional<To> integerOf(double value) {
  constexpr double kEnd =
      static_cast<double>(uint64_t{1} << (std::numeric_limits<To>::digits - 1)) * 2;
  const double begin = std::is_signed_v<To> ? -kEnd : 0;
  if (!(value >= begin) || value >= kEnd || std::trunc(value) != value) return std::nullopt;
  return static_cast<To>(value);
}

int digitOf(char c, bool is_of_urls) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == (is_of_urls ? '-' : '+')) return 62;
  if (c == (is_of_urls ? '_' : '/')) return 63;
  return -1;
}

// Padding is all there or not there at all, blanks do not count, and bits that fill no byte are
// whatever they are.
bool decode(std::string_view text, bool is_of_urls, std::string* out) {
  out->clear();
  uint32_t bits = 0;
  size_t digits = 0;
  size_t padding = 0;
  for (const char c : text) {
    if (isSpace(c)) continue;
    if (c == '=' || c == '.') {
      ++padding;
      continue;
    }
    const int digit = digitOf(c, is_of_urls);
    if (digit < 0 || padding > 0) return false;
    bits = bits << 6 | static_cast<uint32_t>(digit);
    if (++digits % 4 != 0) continue;
    for (const int shift : {16, 8, 0}) out->push_back(static_cast<char>(bits >> shift));
    bits = 0;
  }
  const size_t rest = digits % 4;
  if (rest == 1 || (padding > 0 && padding != (4 - rest) % 4)) return false;
  if (rest >= 2) out->push_back(static_cast<char>(bits >> (rest == 2 ? 4 : 10)));
  if (rest == 3) out->push_back(static_cast<char>(bits >> 2));
  return true;
}

}  // namespace

template <typename To>
std::optional<To> JsonValue::toInteger() const {
  switch (type_) {
    case Type::Int:
      if (std::in_range<To>(int_)) return static_cast<To>(int_);
      return std::nullopt;
    case Type::UInt:
      if (std::in_range<To>(uint_)) return static_cast<To>(uint_);
      return std::nullopt;
    case Type::Double:
      return integerOf<To>(double_);
    case Type::String:
      return parseInteger<To>(string_);
    default:
      return std::nullopt;
  }
}

std::optional<int32_t> JsonValue::toInt32() const { return toInteger<int32_t>(); }
std::optional<int64_t> JsonValue::toInt64() const { return toInteger<int64_t>(); }
std::optional<uint32_t> JsonValue::toUInt32() const { return toInteger<uint32_t>(); }
std::optional<uint64_t> JsonValue::toUInt64() const { return toInteger<uint64_t>(); }

std::optional<double> JsonValue::toDouble() const {
  switch (type_) {
    case Type::Int:
      return static_cast<double>(int_);
    case Type::UInt:
      return static_cast<double>(uint_);
    case Type::Double:
      return double_;
    case Type::String: {
      if (string_ == "Infinity") return std::numeric_limits<double>::infinity();
      if (string_ == "-Infinity") return -std::numeric_limits<double>::infinity();
      if (string_ == "NaN") return std::numeric_limits<double>::quiet_NaN();
      const std::optional<std::string_view> text = trimmed(string_);
      double value = 0;
      if (!text || !parseNumber(*text, &value) || !std::isfinite(value)) return std::nullopt;
      return value;
    }
    default:
      return std::nullopt;
  }
}

std::optional<float> JsonValue::toFloat() const {
  const std::optional<double> value = toDouble();
  if (!value) return std::nullopt;
  if (type_ != Type::String && type_ != Type::Double) return static_cast<float>(*value);
  constexpr double kMax = std::numeric_limits<float>::max();
  // From here on it would be rounded to infinity.
  const double kEnd = kMax + std::ldexp(1.0, 103);
  if (std::isfinite(*value) && (*value >= kEnd || *value <= -kEnd)) return std::nullopt;
  return static_cast<float>(*value);
}

std::optional<bool> JsonValue::toBool() const {
  if (type_ == Type::Bool) return uint_ != 0;
  if (type_ != Type::String) return std::nullopt;
  for (const std::string_view word : {"true", "t", "yes", "y", "1"}) {
    if (equalsIgnoreCase(string_, word)) return true;
  }
  for (const std::string_view word : {"false", "f", "no", "n", "0"}) {
    if (equalsIgnoreCase(string_, word)) return false;
  }
  return std::nullopt;
}

std::optional<std::string_view> JsonValue::toString() const {
  if (type_ != Type::String) return std::nullopt;
  return string_;
}

std::optional<std::string> JsonValue::toBytes() const {
  std::string bytes;
  if (type_ != Type::String) return std::nullopt;
  if (decode(string_, true, &bytes) || decode(string_, false, &bytes)) return bytes;
  return std::nullopt;
}

std::optional<int32_t> JsonValue::toEnum(const EnumType& type, bool ignores_case) const {
  if (isNull()) return 0;
  if (type_ != Type::String) return toInt32();
  if (const EnumValue* value = type.find(string_)) return value->number;
  if (const std::optional<int32_t> number = toInt32()) {
    if (type.find(*number)) return number;
  }
  if (!ignores_case) return std::nullopt;
  std::string name(string_);
  for (char& c : name) {
    if (c == '-') c = '_';
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  const EnumValue* const value = type.find(name);
  if (!value) return std::nullopt;
  return value->number;
}

std::string JsonValue::text() const {
  switch (type_) {
    case Type::Null:
      return "null";
    case Type::Bool:
      return uint_ != 0 ? "true" : "false";
    case Type::Int:
      return std::to_string(int_);
    case Type::UInt:
      return std::to_string(uint_);
    case Type::Double:
      return numberText(double_);
    case Type::String:
      return "\"" + std::string(string_) + "\"";
  }
  return {};
}

}  // namespace fairlead::transcoder
