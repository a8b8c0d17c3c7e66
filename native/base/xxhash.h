// XXH64, as the real server makes numbers of texts: github.com/Cyan4973/xxHash,
// doc/xxhash_spec.md.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace fairlead {

namespace xxhash {

constexpr uint64_t kPrime1 = 0x9E3779B185EBCA87;
constexpr uint64_t kPrime2 = 0xC2B2AE3D27D4EB4F;
constexpr uint64_t kPrime3 = 0x165667B19E3779F9;
constexpr uint64_t kPrime4 = 0x85EBCA77C2B2AE63;
constexpr uint64_t kPrime5 = 0x27D4EB2F165667C5;

template <typename T>
T take(std::string_view* text) {
  T value;
  std::memcpy(&value, text->data(), sizeof(T));
  text->remove_prefix(sizeof(T));
  return value;
}

inline uint64_t round(uint64_t lane, uint64_t input) {
  return std::rotl(lane + input * kPrime2, 31) * kPrime1;
}

// The four lanes of a text of 32 bytes or more, merged; `text` keeps what does not fill another
// round.
inline uint64_t lanes(std::string_view* text, uint64_t seed) {
  uint64_t lane[4] = {seed + kPrime1 + kPrime2, seed + kPrime2, seed, seed - kPrime1};
  while (text->size() >= 32) {
    for (uint64_t& one : lane) one = round(one, take<uint64_t>(text));
  }
  uint64_t hash = std::rotl(lane[0], 1) + std::rotl(lane[1], 7) + std::rotl(lane[2], 12) +
                  std::rotl(lane[3], 18);
  for (const uint64_t one : lane) hash = (hash ^ round(0, one)) * kPrime1 + kPrime4;
  return hash;
}

}  // namespace xxhash

inline uint64_t xxHash64(std::string_view text, uint64_t seed = 0) {
  static_assert(std::endian::native == std::endian::little);
  using namespace xxhash;
  const uint64_t size = text.size();
  uint64_t hash = size >= 32 ? lanes(&text, seed) : seed + kPrime5;
  hash += size;
  while (text.size() >= 8) {
    hash = std::rotl(hash ^ round(0, take<uint64_t>(&text)), 27) * kPrime1 + kPrime4;
  }
  if (text.size() >= 4) {
    hash = std::rotl(hash ^ (take<uint32_t>(&text) * kPrime1), 23) * kPrime2 + kPrime3;
  }
  while (!text.empty()) {
    hash = std::rotl(hash ^ (take<uint8_t>(&text) * kPrime5), 11) * kPrime1;
  }
  hash = (hash ^ (hash >> 33)) * kPrime2;
  hash = (hash ^ (hash >> 29)) * kPrime3;
  return hash ^ (hash >> 32);
}

}  // namespace fairlead
