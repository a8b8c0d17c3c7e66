#include "profile/profile_file.h"

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>

namespace fairlead::profile {

void ProfileFile::add(std::span<const uintptr_t> addresses) {
  if (addresses.empty()) return;
  std::vector<uintptr_t> stack(addresses.begin(), addresses.end());
  // Readers take a word off return addresses themselves.
  for (size_t i = 1; i < stack.size(); ++i) ++stack[i];
  ++stacks_[std::move(stack)];
}

int ProfileFile::write(const std::string& path, uint64_t period_us) const {
  // A head of three words behind it, the format's version; the last record says that it is that.
  std::vector<uintptr_t> words = {0, 3, 0, period_us, 0};
  for (const auto& [stack, count] : stacks_) {
    words.push_back(count);
    words.push_back(stack.size());
    words.insert(words.end(), stack.begin(), stack.end());
  }
  words.insert(words.end(), {0, 1, 0});
  std::ifstream maps("/proc/self/maps");
  const std::string mapped((std::istreambuf_iterator<char>(maps)),
                           std::istreambuf_iterator<char>());

  const std::unique_ptr<std::FILE, decltype(&std::fclose)> file(std::fopen(path.c_str(), "we"),
                                                                &std::fclose);
  if (!file) return errno;
  const bool is_written =
      std::fwrite(words.data(), sizeof(uintptr_t), words.size(), file.get()) == words.size() &&
      std::fwrite(mapped.data(), 1, mapped.size(), file.get()) == mapped.size() &&
      std::fflush(file.get()) == 0;
  return is_written ? 0 : errno;
}

}  // namespace fairlead::profile
