// JSON as a tree.
#include "base/json_tree.h"

#include "test/native/test.h"

namespace fairlead::test {

namespace {

std::string again(std::string_view text, JsonRepeats repeats = JsonRepeats::LastWins) {
  Arena arena(1024);
  const JsonNode* const node = parseJson(text, arena, repeats);
  std::string made = node ? "" : "none";
  if (node) appendJson(&made, *node);
  return made;
}

}  // namespace

TEST("JSON is read, and written with its members in the order of their names") {
  EXPECT_EQ(again(R"( {"b" : [1, 2.5, -3e2, true, null], "a": {"\u00e9\n": "\ud83d\ude00"}} )"),
            "{\"a\":{\"\xc3\xa9\\n\":\"\xf0\x9f\x98\x80\"},\"b\":[1,2.5,-300,true,null]}");
  EXPECT_EQ(again("1e300"), "1e+300");
  EXPECT_EQ(again("-0"), "-0");
  EXPECT_EQ(again(R"({"a":1,"a":2})"), R"({"a":2})");
  EXPECT_EQ(again(R"({"a":1,"a":2})", JsonRepeats::Refused), "none");
}

TEST("What is no JSON is none") {
  for (const char* text :
       {"", "{", "[1,]", "{\"a\":1,}", "01", "1.", ".5", "+1", "nul", "\"a", "\"\\x\"",
        "\"\\ud800\"", "'a'", "[1] x", "\"\x01\"", "\"\xff\"", "\"\\", "\"\\u12"}) {
    EXPECT_EQ(again(text), "none");
  }
  EXPECT_EQ(again(std::string(200, '[') + std::string(200, ']')), "none");
}

}  // namespace fairlead::test
