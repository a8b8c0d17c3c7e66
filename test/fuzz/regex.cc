// Regular expression programs from anywhere: the input begins with a program, the rest is a text.
// Whatever loads must match without harm, and the automaton must agree with the plain machine that
// replaceAll runs.
#include "base/regex.h"

#include <cstdint>
#include <string>
#include <vector>

#include "base/check.h"
#include "test/native/base/regex_assembler.h"

std::vector<std::string> fuzzSeeds() {
  // (a|b)*c
  fairlead::test::Assembler groups;
  groups.fork(1, 4);
  groups.capture(2, 2);
  groups.bytes('a', 'b', 3);
  groups.capture(3, 0);
  groups.text("c");
  groups.match();
  // \bx+$
  fairlead::test::Assembler conditions;
  conditions.empty(16, 1);
  conditions.bytes('x', 'x', 2);
  conditions.fork(1, 3);
  conditions.empty(8, 4);
  conditions.match();
  // x(?=y)
  fairlead::test::Assembler looking;
  looking.bytes('x', 'x', 1);
  looking.look(3, 2);
  looking.match();
  looking.text("y");
  looking.match();
  return {looking.program(0) + "xxxyxxxxy-yxyxyxxxxxxyxxxxxxxxy",
          groups.program(0, 4) + "ababcab-cbacbabcbacb-abcbabcbabcb-abcbabcbacbc",
          conditions.program(0) + "xx x-xxx xxxxxxxxx-xxxx xxxxx xxxxxx xxxxx xxx"};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  // Only one end is the program's; it loads with no other.
  for (size_t cut = 16; cut <= size; cut += 4) {
    fairlead::Result<fairlead::Regex> loaded = fairlead::Regex::load(input.substr(0, cut));
    if (!loaded) continue;
    const fairlead::Regex& regex = loaded.value();
    const std::string_view text = input.substr(cut);
    const bool found = regex.search(text);
    FL_CHECK(found || !regex.fullMatch(text));
    std::string marked;
    regex.replaceAll(text, "\\0", &marked);
    FL_CHECK(marked == text);
    marked.clear();
    regex.replaceAll(text, "<\\0>", &marked);
    FL_CHECK((marked != text) == found);
  }
  return 0;
}
