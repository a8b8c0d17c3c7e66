#pragma once

namespace fairlead {

// Of a digit of hexadecimal numbers, in either case; -1: it is none. Pure.
inline int hexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace fairlead
