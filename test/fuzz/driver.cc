// Runs one fuzz target in a seeded loop, without a fuzzing library:
//   fuzz-<name> [runs | <seconds>s] [seed] [corpus]   default: 100000 runs, seed 1
//   fuzz-<name> @file                                 one input, as kept after a failure
// Inputs are those of the corpus (test/fuzz/corpora, which scripts/fuzz.mjs grows; none where there
// is no such file), then random bytes, or mutations of seeds: the target's own (fuzzSeeds), the
// corpus, and inputs made here. The same arguments give the same inputs. Before each run the input
// is kept in memory; a crash writes it to `crash-<seed>` in the current folder, so that it can be
// run again.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

// A target may define this to say what good input looks like.
__attribute__((weak)) std::vector<std::string> fuzzSeeds();

// Sanitizers end the process without a signal, but say so first.
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kMaxInputBytes = 4096;
constexpr size_t kMaxCorpus = 1024;

std::string current_input;
char crash_path[64];

// splitmix64: tiny, and every seed is good.
struct Dice {
  uint64_t state;
  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  size_t below(size_t bound) { return bound == 0 ? 0 : next() % bound; }
};

void keepInput() {
  const int file = ::open(crash_path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (file >= 0) {
    const ssize_t written = ::write(file, current_input.data(), current_input.size());
    (void)written;
    ::close(file);
  }
}

void onSignal(int signal_number) {
  keepInput();
  ::signal(signal_number, SIG_DFL);
  ::raise(signal_number);
}

std::string randomBytes(Dice& dice) {
  std::string bytes(dice.below(64), '\0');
  for (char& c : bytes) c = static_cast<char>(dice.next());
  return bytes;
}

void mutateOnce(std::string* input, const std::vector<std::string>& corpus, Dice& dice) {
  const size_t at = dice.below(input->size() + 1);
  const size_t length = dice.below(16) + 1;
  switch (dice.below(7)) {
    case 0:
      if (at < input->size())
        (*input)[at] = static_cast<char>((*input)[at] ^ (1u << dice.below(8)));
      break;
    case 1:
      if (at < input->size()) (*input)[at] = static_cast<char>(dice.next());
      break;
    case 2:
      input->erase(at, length);
      break;
    case 3:
      input->insert(at, randomBytes(dice).substr(0, length));
      break;
    case 4:
      input->insert(at, input->substr(dice.below(input->size() + 1), length));
      break;
    case 5:
      input->resize(at);
      break;
    default: {
      const std::string& other = corpus[dice.below(corpus.size())];
      *input = input->substr(0, at) + other.substr(dice.below(other.size() + 1));
      break;
    }
  }
  if (input->size() > kMaxInputBytes) input->resize(kMaxInputBytes);
}

// Each input behind its size, four bytes, the lowest first.
void addCorpus(const char* path, std::vector<std::string>* corpus) {
  std::FILE* file = std::fopen(path, "rb");
  if (!file) return;
  for (uint8_t size[4]; std::fread(size, 1, sizeof size, file) == sizeof size;) {
    std::string input(size_t{size[0]} | size_t{size[1]} << 8 | size_t{size[2]} << 16, '\0');
    if (std::fread(input.data(), 1, input.size(), file) != input.size()) break;
    corpus->push_back(std::move(input));
  }
  std::fclose(file);
}

int runFile(const char* path) {
  std::FILE* file = std::fopen(path, "rb");
  if (!file) {
    std::fprintf(stderr, "cannot read %s: %s\n", path, std::strerror(errno));
    return 1;
  }
  char buffer[4096];
  for (size_t got; (got = std::fread(buffer, 1, sizeof buffer, file)) > 0;) {
    current_input.append(buffer, got);
  }
  std::fclose(file);
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(current_input.data()),
                         current_input.size());
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && argv[1][0] == '@') return runFile(argv[1] + 1);
  char* suffix = nullptr;
  const uint64_t amount = argc > 1 ? std::strtoull(argv[1], &suffix, 10) : 100'000;
  const bool timed = suffix && *suffix == 's';
  const uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  std::snprintf(crash_path, sizeof crash_path, "crash-%llu", static_cast<unsigned long long>(seed));
  for (const int number : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGTRAP}) {
    ::signal(number, onSignal);
  }
  if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(keepInput);

  Dice dice{seed};
  std::vector<std::string> corpus = {""};
  if (fuzzSeeds) corpus = fuzzSeeds();
  if (argc > 3) addCorpus(argv[3], &corpus);
  const size_t kept = corpus.size();
  corpus.reserve(kMaxCorpus);
  const Clock::time_point end = Clock::now() + std::chrono::seconds(timed ? amount : 0);
  uint64_t runs = 0;
  for (; runs < kept || (timed ? Clock::now() < end : runs < amount); ++runs) {
    if (runs < kept) {
      current_input = corpus[runs];
    } else if (dice.below(8) == 0) {
      current_input = randomBytes(dice);
    } else {
      current_input = corpus[dice.below(corpus.size())];
      for (size_t steps = dice.below(8) + 1; steps > 0; --steps) {
        mutateOnce(&current_input, corpus, dice);
      }
    }
    // A copy of exactly its size, so that a sanitizer sees the first byte read past the end.
    const std::vector<uint8_t> exact(current_input.begin(), current_input.end());
    LLVMFuzzerTestOneInput(exact.data(), exact.size());
    if (dice.below(64) == 0 && corpus.size() < kMaxCorpus) corpus.push_back(current_input);
  }
  std::printf("%llu runs, seed %llu: nothing found\n", static_cast<unsigned long long>(runs),
              static_cast<unsigned long long>(seed));
  return 0;
}
