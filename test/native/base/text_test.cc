#include "base/text.h"

#include "test/native/test.h"

namespace fairlead {

TEST("A decimal number is digits alone, as many as there are, of what 64 bits hold") {
  uint64_t value = 0;
  EXPECT(parseDecimal("0", &value) && value == 0);
  EXPECT(parseDecimal("18446744073709551615", &value) && value == UINT64_MAX);
  EXPECT(parseDecimal("00000000000000000000000000000042", &value) && value == 42);
  EXPECT(parseDecimal("0000000000000000000000000", &value) && value == 0);
  for (const std::string_view text : {"", "18446744073709551616", "99999999999999999999",
                                      "000018446744073709551616", "-1", "+1", "1 ", "0x1"}) {
    EXPECT(!parseDecimal(text, &value));
  }
}

}  // namespace fairlead
