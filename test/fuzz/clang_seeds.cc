// Linked in place of the driver where clang's library drives a target: writes the target's seeds to
// the folder that FAIRLEAD_FUZZ_SEEDS names, before that library looks there.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

__attribute__((weak)) std::vector<std::string> fuzzSeeds();

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* const folder = std::getenv("FAIRLEAD_FUZZ_SEEDS");
  if (!folder || !fuzzSeeds) return 0;
  size_t number = 0;
  for (const std::string& seed : fuzzSeeds()) {
    const std::string path = std::string(folder) + "/seed-" + std::to_string(number++);
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    if (!file) continue;
    std::fwrite(seed.data(), 1, seed.size(), file);
    std::fclose(file);
  }
  return 0;
}
