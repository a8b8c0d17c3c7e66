// Any path under any rules: what comes out has no dot segments that were asked away, no query that
// changed, and stays as it is when it is normalised again.
#include "http/normalize_path.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "base/check.h"

using namespace fairlead::http;

namespace {

std::string_view pathOf(std::string_view whole) {
  return whole.substr(0, whole.find_first_of("?#"));
}

// `has_escapes`: of dots and slashes, which have no parameters before they are turned.
void checkNormalized(std::string_view path, const PathRules& rules, bool has_escapes) {
  FL_CHECK(path.starts_with('/'));
  if (rules.normalize) {
    for (size_t at = 0; at < path.size();) {
      const size_t end = std::min(path.find('/', at + 1), path.size());
      const std::string_view segment = path.substr(at + 1, end - at - 1);
      FL_CHECK(segment != "." && segment != "..");
      FL_CHECK(has_escapes || !(segment.starts_with(".;") || segment.starts_with("..;")));
      at = end;
    }
    FL_CHECK(path.find('\\') == std::string_view::npos);
  }
  if (rules.merge_slashes && path != "//") FL_CHECK(path.find("//") == std::string_view::npos);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const PathRules rules = {.normalize = (data[0] & 1) != 0,
                           .merge_slashes = (data[0] & 2) != 0,
                           .escaped_slashes = static_cast<EscapedSlashes>(data[0] >> 2 & 3)};
  std::string input(reinterpret_cast<const char*>(data), size);
  input[0] = '/';
  fairlead::Arena arena(256);
  const NormalizedPath out = normalizePath(input, rules, arena);
  if (out.result == NormalizedPath::Result::Rejected) return 0;
  FL_CHECK((out.result == NormalizedPath::Result::Unchanged) == (out.path == input));
  FL_CHECK(out.path.substr(pathOf(out.path).size()) ==
           std::string_view(input).substr(pathOf(input).size()));
  const bool has_escapes = pathOf(input).find_first_of("%\\") != std::string_view::npos;
  checkNormalized(pathOf(out.path), rules, has_escapes);
  // "%252e" was unescaped once, and is not a second time; slashes may be.
  const PathRules again = {.normalize = false, .merge_slashes = rules.merge_slashes};
  FL_CHECK(normalizePath(out.path, again, arena).result == NormalizedPath::Result::Unchanged);
  return 0;
}

std::vector<std::string> fuzzSeeds() {
  return {"\x03/a/../b//c/./d?e=/../f",
          "\x01/%2e%2E/%41%7e%zz%",
          "\x01/a/..;/b/.;x/c;..",
          "\x0f/a%2Fb%5cc\\d",
          "\x0b///",
          "\x01/\"<>`{}^|/...",
          "\x01/%00"};
}
