#include "http/grpc_timeout.h"

#include <algorithm>

#include "base/text.h"

namespace fairlead::http {

namespace {

constexpr size_t kMaxDigits = 8;
constexpr uint64_t kMaxNumber = 99'999'999;

}  // namespace

std::optional<net::Millis> readGrpcTimeout(std::string_view value) {
  if (value.size() < 2 || value.size() > kMaxDigits + 1) return std::nullopt;
  uint64_t number = 0;
  if (!parseDecimal(value.substr(0, value.size() - 1), &number)) return std::nullopt;
  switch (value.back()) {
    case 'H':
      return number * 3'600'000;
    case 'M':
      return number * 60'000;
    case 'S':
      return number * 1000;
    case 'm':
      return number;
    case 'u':
      return (number + 999) / 1000;
    case 'n':
      return (number + 999'999) / 1'000'000;
    default:
      return std::nullopt;
  }
}

std::string_view writeGrpcTimeout(net::Millis ms, Arena& arena) {
  struct Unit {
    std::string_view name;
    // Of the unit before it.
    uint64_t size;
  };
  static constexpr Unit kUnits[] = {{"m", 1}, {"S", 1000}, {"M", 60}, {"H", 60}};
  uint64_t number = ms;
  std::string_view unit;
  for (const Unit& next : kUnits) {
    number /= next.size;
    unit = next.name;
    if (number <= kMaxNumber) break;
  }
  return arena.join(arena.decimal(std::min(number, kMaxNumber)), unit);
}

}  // namespace fairlead::http
