#include "http/joined_headers.h"

#include <string>

#include "test/native/test.h"

namespace fairlead::http {

TEST("Lines of a name that inline_headers gives join each other, and no other name's") {
  joinToo({"x-kept-in-one"}, {});
  Arena arena(16);
  const std::string long_value(200, 'b');
  HeaderMap headers;
  headers.add(HeaderId::Other, "x-kept-in-one", "a");
  headers.add(HeaderId::Other, "x-not-kept", long_value);
  headers.add(HeaderId::Other, "x-kept-in-one", "c");
  headers.add(HeaderId::Other, "x-not-kept", "d");
  joinRequestLines(headers, arena);
  std::string lines;
  for (const HeaderEntry& entry : headers) {
    if (entry.name().empty()) continue;
    lines.append(entry.name()).append("=").append(entry.value().substr(0, 3)).append(";");
  }
  EXPECT_EQ(lines, "x-kept-in-one=a,c;x-not-kept=bbb;x-not-kept=d;");
}

}  // namespace fairlead::http
