#include "caches/byte_range.h"

#include <limits>

namespace fairlead::caches {

namespace {

// Takes the digits at the start. Nothing: there are none, or too many.
std::optional<uint64_t> takeDigits(std::string_view* text) {
  uint64_t value = 0;
  size_t count = 0;
  for (; count < text->size(); ++count) {
    const char c = (*text)[count];
    if (c < '0' || c > '9') break;
    const auto digit = static_cast<uint64_t>(c - '0');
    if (value > (std::numeric_limits<uint64_t>::max() - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
  }
  text->remove_prefix(count);
  return count > 0 ? std::optional(value) : std::nullopt;
}

}  // namespace

std::optional<ByteRange> rangeOf(std::string_view header, uint64_t body_bytes) {
  constexpr std::string_view kUnit = "bytes=";
  if (!header.starts_with(kUnit)) return std::nullopt;
  header.remove_prefix(kUnit.size());
  const std::optional<uint64_t> first = takeDigits(&header);
  if (!header.starts_with('-')) return std::nullopt;
  header.remove_prefix(1);
  const std::optional<uint64_t> last = takeDigits(&header);
  if (!header.empty() || (!first && !last)) return std::nullopt;
  constexpr ByteRange kNothing{0, 0};
  if (!first) {
    if (body_bytes == 0 || *last == 0) return kNothing;
    if (*last >= body_bytes) return std::nullopt;
    return ByteRange{body_bytes - *last, body_bytes};
  }
  if (last && *first > *last) return std::nullopt;
  if (*first >= body_bytes) return kNothing;
  if (!last || *last >= body_bytes - 1) {
    if (*first == 0) return std::nullopt;
    return ByteRange{*first, body_bytes};
  }
  return ByteRange{*first, *last + 1};
}

}  // namespace fairlead::caches
