// Writes regular expression programs by hand, for tests, fuzz seeds and benchmarks that have no
// compiler; see src/plan/match/regex/regex.ts for what the words mean.
#pragma once

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace fairlead::test {

// Each call adds an instruction and returns its number; the first is 0.
class Assembler {
 public:
  uint32_t fork(uint32_t first, uint32_t second) { return add({1, first, second, 0}); }
  uint32_t capture(uint32_t slot, uint32_t next) { return add({2, next, slot, 0}); }
  uint32_t empty(uint32_t conditions, uint32_t next) { return add({3, next, conditions, 0}); }
  uint32_t match() { return add({4, 0, 0, 0}); }
  uint32_t bytes(uint8_t first, uint8_t last, uint32_t next) {
    return add({7, 0, 0, 1, range(first, last), next});
  }
  // Where what begins at `part` must match.
  uint32_t look(uint32_t part, uint32_t next) { return add({8, next, 2 * part, 0}); }
  // Any byte but one.
  uint32_t bytesBut(uint8_t one, uint32_t next) {
    return add({7, 0, 0, 2, range(0, one - 1), next, range(one + 1, 255), next});
  }
  // One instruction for each letter, then what is added next.
  uint32_t text(std::string_view letters) {
    const uint32_t first = count_;
    for (const char c : letters) {
      bytes(static_cast<uint8_t>(c), static_cast<uint8_t>(c), count_ + 1);
    }
    return first;
  }
  // The number of the instruction that is added next.
  uint32_t next() const { return count_; }

  std::string program(uint32_t start, uint32_t slots = 2) const {
    std::vector<uint32_t> words{0x32786572, start, slots, count_};
    words.insert(words.end(), words_.begin(), words_.end());
    std::string bytes(words.size() * 4, 0);
    std::memcpy(bytes.data(), words.data(), bytes.size());
    return bytes;
  }

 private:
  static uint32_t range(int first, int last) {
    return static_cast<uint32_t>(first) | static_cast<uint32_t>(last) << 8;
  }
  uint32_t add(std::initializer_list<uint32_t> words) {
    words_.insert(words_.end(), words);
    return count_++;
  }

  std::vector<uint32_t> words_;
  uint32_t count_ = 0;
};

}  // namespace fairlead::test
