// Request ids: random UUIDs of version 4, in the form that RFC 9562 writes them.
#include "http/request_id.h"

#include <cstdio>
#include <string>

#include "test/native/test.h"

namespace fairlead::test {

namespace {

// One byte after the other.
std::string writtenPlainly(uint64_t high, uint64_t low) {
  std::string text;
  for (int i = 0; i < 16; ++i) {
    auto byte = static_cast<uint8_t>((i < 8 ? high : low) >> (8 * (i % 8)));
    if (i == 6) byte = static_cast<uint8_t>((byte & 0x0f) | 0x40);
    if (i == 8) byte = static_cast<uint8_t>((byte & 0x3f) | 0x80);
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", byte);
    text += digits;
  }
  return text;
}

TEST("A request id has the two digits of each of its bytes, a version and a variant") {
  Random one;
  Random same = one;
  for (int i = 0; i < 1000; ++i) {
    char text[http::kRequestIdBytes];
    const std::string_view written = http::writeRequestId(one, text);
    const uint64_t high = same.next();
    EXPECT_EQ(std::string(written), writtenPlainly(high, same.next()));
  }
}

}  // namespace

}  // namespace fairlead::test
