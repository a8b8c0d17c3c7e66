#include "base/json_layout.h"

#include "test/native/test.h"

namespace fairlead {
namespace {

std::string layOut(std::string_view compact, size_t piece) {
  JsonLayout layout;
  std::string out;
  for (size_t at = 0; at < compact.size(); at += piece) {
    layout.append(&out, compact.substr(at, piece));
  }
  return out;
}

constexpr std::string_view kCompact = R"({"a":[1,{"b":"x,\"{<"}],"c":{},"d":[],"e":null})";
constexpr std::string_view kLaidOut = R"({
 "a": [
  1,
  {
   "b": "x,\"{\u003c"
  }
 ],
 "c": {},
 "d": [],
 "e": null
})";

TEST("each level is one blank further in, and what is empty stays on its line") {
  EXPECT_EQ(layOut(kCompact, kCompact.size()), kLaidOut);
}

TEST("pieces may end anywhere") {
  for (size_t piece = 1; piece < kCompact.size(); ++piece) {
    EXPECT_EQ(layOut(kCompact, piece), kLaidOut);
  }
}

}  // namespace
}  // namespace fairlead
