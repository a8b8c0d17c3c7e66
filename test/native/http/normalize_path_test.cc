#include "http/normalize_path.h"

#include <string>

#include "test/native/test.h"

namespace fairlead::http {

namespace {

using Result = NormalizedPath::Result;

std::string read(std::string_view path, const PathRules& rules) {
  Arena arena(64);
  const NormalizedPath out = normalizePath(path, rules, arena);
  switch (out.result) {
    case Result::Unchanged:
      EXPECT_EQ(out.path, path);
      return "=";
    case Result::Changed:
      return std::string(out.path);
    case Result::Redirect:
      return "redirect " + std::string(out.path);
    case Result::Rejected:
      break;
  }
  return "rejected";
}

constexpr PathRules kNormalize = {.normalize = true};
constexpr PathRules kMerge = {.merge_slashes = true};
constexpr PathRules kBoth = {.normalize = true, .merge_slashes = true};
constexpr PathRules kForward = {.escaped_slashes = EscapedSlashes::UnescapeAndForward};

}  // namespace

TEST("dot segments are removed, and never climb above the root") {
  EXPECT_EQ(read("/a/./b", kNormalize), "/a/b");
  EXPECT_EQ(read("/a/..", kNormalize), "/");
  EXPECT_EQ(read("/a/.", kNormalize), "/a/");
  EXPECT_EQ(read("/..", kNormalize), "/");
  EXPECT_EQ(read("/a/b/../../../c", kNormalize), "/c");
  EXPECT_EQ(read("/a//../b", kNormalize), "/a/b");
  EXPECT_EQ(read("//a/../b", kNormalize), "//b");
  EXPECT_EQ(read("/a/...", kNormalize), "=");
  EXPECT_EQ(read("/.../", kNormalize), "=");
}

TEST("a dot segment with parameters is one, where dots and slash are not escaped") {
  EXPECT_EQ(read("/a/..;/b", kNormalize), "/b");
  EXPECT_EQ(read("/a/.;/b", kNormalize), "/a/b");
  EXPECT_EQ(read("/a/..;x=1;y/b", kNormalize), "/b");
  EXPECT_EQ(read("/a/b/..;", kNormalize), "/a/");
  EXPECT_EQ(read("/a/b/.;", kNormalize), "/a/b/");
  EXPECT_EQ(read("/..;", kNormalize), "/");
  EXPECT_EQ(read("/a/b/..;/..;/c?q=/..;/", kNormalize), "/c?q=/..;/");
  EXPECT_EQ(read("//a//..;//b", kBoth), "/a/b");
  EXPECT_EQ(read("/a/..;x\\b/c", kNormalize), "/c");
  EXPECT_EQ(read("/a/..;%00<%2F/b", kNormalize), "/b");
  EXPECT_EQ(read("/a/%2e%2e;/b", kNormalize), "/a/..;/b");
  EXPECT_EQ(read("/a/.%2e;p/b", kNormalize), "/a/..;p/b");
  EXPECT_EQ(read("/a\\..;\\b", kNormalize), "/a/..;/b");
  for (const char* path : {"/a/..%3b/b", "/a/...;/b", "/a/;..;/b", "/a;/b;..;/c"}) {
    EXPECT_EQ(read(path, kNormalize), "=");
  }
  EXPECT_EQ(read("/a/..;/b", kMerge), "=");
}

TEST("escaped slashes are turned before parameters of dot segments are looked for") {
  const PathRules forward = {.normalize = true,
                             .escaped_slashes = EscapedSlashes::UnescapeAndForward};
  EXPECT_EQ(read("/a%2F..;%2Fb", forward), "/b");
  EXPECT_EQ(read("/a%5C..;%5Cb", forward), "/a/..;/b");
  EXPECT_EQ(read("/a/..%2F;/b", forward), "/;/b");
}

TEST("escaped dots and backslashes count as what they stand for") {
  EXPECT_EQ(read("/a/%2e%2E/b", kNormalize), "/b");
  EXPECT_EQ(read("/.%2e/b", kNormalize), "/b");
  EXPECT_EQ(read("/a\\..\\b", kNormalize), "/b");
}

TEST("unreserved bytes are unescaped once; others stay as they came") {
  EXPECT_EQ(read("/%7e%41", kNormalize), "/~A");
  EXPECT_EQ(read("/%25%32%66", kNormalize), "/%252f");
  EXPECT_EQ(read("/a%2fb", kNormalize), "=");
  EXPECT_EQ(read("/a%c3%a9", kNormalize), "=");
  EXPECT_EQ(read("/%zz", kNormalize), "=");
  EXPECT_EQ(read("/%", kNormalize), "=");
  EXPECT_EQ(read("/%4", kNormalize), "=");
}

TEST("bytes that a path may not have are escaped") {
  EXPECT_EQ(read("/\"<>`{}^|", kNormalize), "/%22%3C%3E%60%7B%7D%5E%7C");
  EXPECT_EQ(read("/[a]:@!$&'()*+,;=", kNormalize), "=");
}

TEST("an escaped NUL is rejected where paths are normalised, and passes where they are not") {
  EXPECT_EQ(read("/%00", kNormalize), "rejected");
  EXPECT_EQ(read("/%00", kMerge), "=");
}

TEST("doubled slashes are merged, after dot segments; a path of slashes keeps two") {
  EXPECT_EQ(read("/a//b", kMerge), "/a/b");
  EXPECT_EQ(read("/a//../b", kMerge), "/a/../b");
  EXPECT_EQ(read("//a/../b", kBoth), "/b");
  EXPECT_EQ(read("///", kMerge), "//");
  EXPECT_EQ(read("//", kMerge), "=");
  EXPECT_EQ(read("/", kBoth), "=");
}

TEST("the query is left alone by every rule") {
  EXPECT_EQ(read("/a?b/../c//%41", kBoth), "=");
  EXPECT_EQ(read("/a//?b//c", kBoth), "/a/?b//c");
}

TEST("escaped slashes are kept, refused, forwarded or redirected, as the rule says") {
  EXPECT_EQ(read("/a%2Fb", kMerge), "=");
  EXPECT_EQ(read("/a%2fb", {.escaped_slashes = EscapedSlashes::Reject}), "rejected");
  EXPECT_EQ(read("/a%5cb", {.escaped_slashes = EscapedSlashes::Reject}), "rejected");
  EXPECT_EQ(read("/a?q=%2F", {.escaped_slashes = EscapedSlashes::Reject}), "=");
  EXPECT_EQ(read("/a%2Fb", kForward), "/a/b");
  EXPECT_EQ(read("/x%5C..%5Cy", kForward), "/x\\..\\y");
  const PathRules redirect = {.normalize = true,
                              .merge_slashes = true,
                              .escaped_slashes = EscapedSlashes::UnescapeAndRedirect};
  EXPECT_EQ(read("/x%5C..%5Cy", redirect), "redirect /y");
  EXPECT_EQ(read("/a/%2e%2e%2fb", redirect), "redirect /b");
  EXPECT_EQ(read("/a/../b", redirect), "/b");
}

}  // namespace fairlead::http
