// Runs every native test, or those whose name or file holds the first argument.
#include <cstring>

#include "test/native/test.h"

namespace fairlead::test {

static int failures_of_case = 0;

std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}

void fail(const char* file, int line, const std::string& what) {
  ++failures_of_case;
  std::fprintf(stderr, "  %s:%d: %s\n", file, line, what.c_str());
}

}  // namespace fairlead::test

int main(int argc, char** argv) {
  using namespace fairlead::test;
  int run = 0;
  int failed = 0;
  for (const Case& test : cases()) {
    if (argc > 1 && !std::strstr(test.name, argv[1]) && !std::strstr(test.file, argv[1])) continue;
    failures_of_case = 0;
    test.run();
    ++run;
    if (failures_of_case > 0) {
      ++failed;
      std::fprintf(stderr, "FAILED %s (%s)\n", test.name, test.file);
    }
  }
  std::printf("native tests: %d run, %d failed\n", run, failed);
  return failed == 0 && run > 0 ? 0 : 1;
}
