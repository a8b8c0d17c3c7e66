// A fast generator of numbers that need not be secret: balancing, jitter, request ids.
// One per worker; one thread.
#pragma once

#include <sys/random.h>

#include <cstdint>

namespace fairlead {

class Random {
 public:
  Random() {
    // Seeded by the kernel, so that two processes never hand out the same request ids.
    if (getrandom(state_, sizeof(state_), 0) != static_cast<ssize_t>(sizeof(state_)) ||
        (state_[0] | state_[1] | state_[2] | state_[3]) == 0) {
      state_[0] = 0x9e3779b97f4a7c15;
      state_[1] = reinterpret_cast<uintptr_t>(this);
    }
  }

  // The same numbers for the same seed, for tests: spread by SplitMix64.
  explicit Random(uint64_t seed) {
    for (uint64_t& word : state_) {
      seed += 0x9e3779b97f4a7c15;
      uint64_t mixed = (seed ^ (seed >> 30)) * 0xbf58476d1ce4e5b9;
      mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
      word = mixed ^ (mixed >> 31);
    }
  }

  // xoshiro256++.
  uint64_t next() {
    const uint64_t result = rotate(state_[0] + state_[3], 23) + state_[0];
    const uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = rotate(state_[3], 45);
    return result;
  }

  // Uniform in [0, bound); 0 for a bound of 0.
  uint64_t below(uint64_t bound) {
    return static_cast<uint64_t>((static_cast<unsigned __int128>(next()) * bound) >> 64);
  }

  // True in that share of all draws.
  bool draws(uint64_t millionths) {
    constexpr uint64_t kMillion = 1'000'000;
    return millionths >= kMillion || below(kMillion) < millionths;
  }

 private:
  static uint64_t rotate(uint64_t value, int by) { return (value << by) | (value >> (64 - by)); }

  uint64_t state_[4] = {};
};

}  // namespace fairlead
