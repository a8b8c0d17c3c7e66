// Ranges of IP addresses as keys of an index: all addresses of one have the same key. Pure.
#pragma once

#include <algorithm>
#include <cstring>
#include <functional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "plan/plan.gen.h"

namespace fairlead::match {

// A length, and the bits of an address that count.
class RangeKey {
 public:
  RangeKey(std::string_view ip, size_t bits) : size_(1 + ip.size()) {
    bytes_[0] = static_cast<char>(bits);
    std::memset(bytes_ + 1, 0, ip.size());
    std::memcpy(bytes_ + 1, ip.data(), (bits + 7) / 8);
    if (bits % 8 != 0) bytes_[1 + bits / 8] &= static_cast<char>(0xff00 >> bits % 8);
  }
  std::string_view text() const { return {bytes_, size_}; }

 private:
  char bytes_[1 + 16];
  size_t size_;
};

inline bool isRange(const plan::CidrRange& range) {
  return (range.ip.size() == 4 || range.ip.size() == 16) &&
         range.prefix_length <= range.ip.size() * 8;
}

// 0: IPv4; 1: IPv6.
inline size_t familyOf(std::string_view ip) { return ip.size() == 4 ? 0 : 1; }

// Each once, the longest first.
template <typename Length>
void addLength(std::vector<Length>& lengths, std::type_identity_t<Length> length) {
  const auto at = std::lower_bound(lengths.begin(), lengths.end(), length, std::greater<>());
  if (at == lengths.end() || *at != length) lengths.insert(at, length);
}

}  // namespace fairlead::match
