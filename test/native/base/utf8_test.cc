#include "base/utf8.h"

#include <string>

#include "test/native/test.h"

namespace fairlead {

TEST("well-formed texts are UTF-8, wherever their characters stand") {
  for (size_t before = 0; before < 17; ++before) {
    const std::string blanks(before, ' ');
    for (const char* text : {"", "a", "é", "\xe2\x80\xa8", "\xf0\x9f\x98\x80", "\xed\x9f\xbf",
                             "\xf4\x8f\xbf\xbf", "\x7f"}) {
      EXPECT(isUtf8(blanks + text));
      EXPECT(isUtf8(blanks + text + "12345678"));
    }
  }
}

TEST("cut, overlong and forbidden forms are not") {
  for (size_t before = 0; before < 17; ++before) {
    const std::string blanks(before, ' ');
    for (const char* text :
         {"\xc3", "\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf", "\xe2\x80", "\xed\xa0\x80",
          "\xf0\x8f\xbf\xbf", "\xf0\x9f\x98", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"}) {
      EXPECT(!isUtf8(blanks + text));
      EXPECT(!isUtf8(blanks + text + "12345678"));
    }
  }
}

}  // namespace fairlead
