// Runs every native test, or those whose name or file holds the argument. --rough: those of HTTP/1
// and of the relay, over a transport that cuts, delays and reorders. --seed N: in other places.
#include <cstring>

#include "test/native/support/rough_transport.h"
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

// What clients and hosts see of HTTP/1 and of the relay.
static bool runsOverTransports(const char* file) {
  return std::strstr(file, "/proxy/") || std::strstr(file, "/filters/http/") ||
         std::strstr(file, "/tcp/") || std::strstr(file, "/updates_test") ||
         std::strstr(file, "_connection_test");
}

}  // namespace fairlead::test

int main(int argc, char** argv) {
  using namespace fairlead::test;
  int run = 0;
  int failed = 0;
  bool is_rough = false;
  const char* wanted = "";
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--rough") == 0) {
      is_rough = true;
    } else if (std::strcmp(argv[i], "--seed") == 0 && i + 1 < argc) {
      seedRoughTransports(static_cast<uint32_t>(std::atoi(argv[++i])));
    } else {
      wanted = argv[i];
    }
  }
  if (is_rough) useRoughTransport();
  for (const Case& test : cases()) {
    if (!std::strstr(test.name, wanted) && !std::strstr(test.file, wanted)) continue;
    if (is_rough && (test.needs_raw_socket || !runsOverTransports(test.file))) continue;
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
