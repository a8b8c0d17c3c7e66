// Numbers as the real server prints them.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

namespace fairlead::stats {

inline void appendNumber(std::string* out, uint64_t value) {
  char text[24];
  out->append(text, std::to_chars(text, text + sizeof(text), value).ptr);
}

// Shortest digits that read back as the same number, never with an exponent: 305, 2.05, nan.
inline void appendPlain(std::string* out, double value) {
  if (std::isnan(value)) {
    out->append("nan");
    return;
  }
  char text[400];
  const auto end = std::to_chars(text, text + sizeof(text), value, std::chars_format::fixed).ptr;
  out->append(text, end);
}

// The same, with an exponent where that is shorter: 60000, 3e+05.
inline void appendShortest(std::string* out, double value) {
  char text[64];
  out->append(text, std::to_chars(text, text + sizeof(text), value).ptr);
}

// printf's %g with so many significant digits: 1.8e+06 (6), 0.29999999999999998889776975374843
// (32).
inline void appendSignificant(std::string* out, double value, int digits) {
  char text[64];
  const int length = std::snprintf(text, sizeof(text), "%.*g", digits, value);
  out->append(text, static_cast<size_t>(length));
}

}  // namespace fairlead::stats
