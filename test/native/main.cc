// Runs every native test, or those whose name or file holds the argument. --rough: those of HTTP/1
// and of the relay, over a transport that cuts, delays and reorders. --seed N: in other places.
// --jobs N: in so many processes at a time, as most tests wait most of their time.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
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

struct Selection {
  bool is_rough = false;
  const char* wanted = "";

  bool holds(const Case& test) const {
    if (!std::strstr(test.name, wanted) && !std::strstr(test.file, wanted)) return false;
    return !is_rough || (!test.needs_raw_socket && runsOverTransports(test.file));
  }
};

struct Totals {
  int run = 0;
  int failed = 0;
};

// Those of one process of several.
static Totals runShare(const Selection& selection, int share, int shares) {
  Totals totals;
  int at = 0;
  for (const Case& test : cases()) {
    if (!selection.holds(test) || at++ % shares != share) continue;
    failures_of_case = 0;
    test.run();
    ++totals.run;
    if (failures_of_case > 0) {
      ++totals.failed;
      std::fprintf(stderr, "FAILED %s (%s)\n", test.name, test.file);
    }
  }
  return totals;
}

// A share's process that does not end well is one failure more, whatever it told before.
static Totals runShares(const Selection& selection, int shares) {
  int told[2];
  if (::pipe(told) != 0) return {};
  for (int share = 0; share < shares; ++share) {
    if (::fork() != 0) continue;
    const Totals totals = runShare(selection, share, shares);
    const bool is_told = ::write(told[1], &totals, sizeof(totals)) == sizeof(totals);
    // Ends as a process does that runs all: sanitizers tell of leaks.
    std::exit(is_told ? 0 : 1);
  }
  ::close(told[1]);
  Totals all;
  for (Totals totals; ::read(told[0], &totals, sizeof(totals)) == sizeof(totals);) {
    all.run += totals.run;
    all.failed += totals.failed;
  }
  for (int status = 0; ::wait(&status) > 0;) {
    if (status == 0) continue;
    ++all.failed;
    std::fprintf(stderr, "FAILED a process of tests: status %d\n", status);
  }
  return all;
}

}  // namespace fairlead::test

int main(int argc, char** argv) {
  using namespace fairlead::test;
  Selection selection;
  int jobs = 1;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--rough") == 0) {
      selection.is_rough = true;
    } else if (std::strcmp(argv[i], "--seed") == 0 && i + 1 < argc) {
      seedRoughTransports(static_cast<uint32_t>(std::atoi(argv[++i])));
    } else if (std::strcmp(argv[i], "--jobs") == 0 && i + 1 < argc) {
      jobs = std::max(1, std::atoi(argv[++i]));
    } else {
      selection.wanted = argv[i];
    }
  }
  if (selection.is_rough) useRoughTransport();
  const Totals totals = jobs == 1 ? runShare(selection, 0, 1) : runShares(selection, jobs);
  std::printf("native tests: %d run, %d failed\n", totals.run, totals.failed);
  return totals.failed == 0 && totals.run > 0 ? 0 : 1;
}
