// Runs every micro-benchmark, or those whose name holds the first argument. One line each: the best
// of several runs (the least disturbed one), and how far the worst was from it.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "bench/micro/micro.h"

namespace fairlead::micro {

namespace {

constexpr uint64_t kRunNanos = 50'000'000;
constexpr int kRuns = 7;

uint64_t readClockNanos() {
  timespec now;
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// Iterations that fill one run.
uint64_t calibrate(const Benchmark& benchmark) {
  for (uint64_t iterations = 1;;) {
    State state(iterations);
    benchmark.run(state);
    const uint64_t elapsed_ns = std::max<uint64_t>(state.elapsedNanos(), 1);
    if (elapsed_ns >= kRunNanos / 10)
      return std::max<uint64_t>(1, iterations * kRunNanos / elapsed_ns);
    iterations *= 8;
  }
}

void measure(const Benchmark& benchmark) {
  const uint64_t iterations = calibrate(benchmark);
  double best_ns = 0;
  double worst_ns = 0;
  size_t bytes = 0;
  for (int i = 0; i < kRuns; ++i) {
    State state(iterations);
    benchmark.run(state);
    const double ns = static_cast<double>(state.elapsedNanos()) / static_cast<double>(iterations);
    best_ns = i == 0 ? ns : std::min(best_ns, ns);
    worst_ns = std::max(worst_ns, ns);
    bytes = state.bytes();
  }
  std::printf("%-48s %10.1f ns/op  +%.0f %%", benchmark.name, best_ns,
              (worst_ns / best_ns - 1) * 100);
  if (bytes > 0) std::printf("  %6.2f GB/s", static_cast<double>(bytes) / best_ns);
  std::printf("\n");
  std::fflush(stdout);
}

}  // namespace

std::vector<Benchmark>& benchmarks() {
  static std::vector<Benchmark> all;
  return all;
}

void State::start() { started_ns_ = readClockNanos(); }
void State::stop() { elapsed_ns_ = readClockNanos() - started_ns_; }

}  // namespace fairlead::micro

int main(int argc, char** argv) {
  using namespace fairlead::micro;
  int run = 0;
  for (const Benchmark& benchmark : benchmarks()) {
    if (argc > 1 && !std::strstr(benchmark.name, argv[1])) continue;
    measure(benchmark);
    ++run;
  }
  return run > 0 ? 0 : 1;
}
