#include "base/proto_json.h"

#include "test/native/test.h"

namespace fairlead {
namespace {

using std::string_view_literals::operator""sv;

std::string quoted(std::string_view text) {
  std::string out;
  appendProtoJsonString(&out, text);
  return out;
}

TEST("What HTML or a terminal could take for more than text is escaped") {
  EXPECT_EQ(quoted("a<b>&'c\"\\/\n\x01\x7f"), R"("a\u003cb\u003e&'c\"\\/\n\u0001\u007f")");
  EXPECT_EQ(quoted("\u00e4\u00a0\u00ad\u2028\U0001f600\U000e0001"),
            "\"\u00e4\u00a0\\u00ad\\u2028\U0001f600\\udb40\\udc01\"");
}

TEST("What begins as a character and is none is a blank, with the byte that shows it") {
  EXPECT_EQ(quoted("a\xff"
                   "b"sv),
            "\"a b\"");
  EXPECT_EQ(quoted("a\x80"
                   "b"sv),
            "\"a b\"");
  EXPECT_EQ(quoted("a\xe9"
                   "cd"sv),
            "\"a d\"");
  EXPECT_EQ(quoted("a\xe9\x80"
                   "cd"sv),
            "\"a d\"");
  EXPECT_EQ(quoted("a\xe4"sv), "\"a \"");
  EXPECT_EQ(quoted("a\xf4\x90\x80\x80"
                   "b"sv),
            "\"a b\"");
  EXPECT_EQ(quoted("a\xc0\x80"
                   "b"sv),
            "\"a\\u0000b\"");
}

}  // namespace
}  // namespace fairlead
