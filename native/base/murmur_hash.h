// MurmurHash64A with the seed of libstdc++'s std::hash, by which rings can be made:
// github.com/aappleby/smhasher, MurmurHash2.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace fairlead {

inline uint64_t murmurHash2(std::string_view text) {
  static_assert(std::endian::native == std::endian::little);
  constexpr uint64_t kMultiplier = 0xc6a4a7935bd1e995;
  constexpr uint64_t kSeed = 0xc70f6907;
  const auto mix = [](uint64_t value) { return value ^ (value >> 47); };
  uint64_t hash = kSeed ^ (text.size() * kMultiplier);
  while (text.size() >= 8) {
    uint64_t word;
    std::memcpy(&word, text.data(), sizeof(word));
    hash = (hash ^ (mix(word * kMultiplier) * kMultiplier)) * kMultiplier;
    text.remove_prefix(sizeof(word));
  }
  if (!text.empty()) {
    uint64_t rest = 0;
    std::memcpy(&rest, text.data(), text.size());
    hash = (hash ^ rest) * kMultiplier;
  }
  hash = mix(hash) * kMultiplier;
  return mix(hash);
}

}  // namespace fairlead
