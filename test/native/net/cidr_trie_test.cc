// Ranges of addresses, found all at once.
#include "net/cidr_trie.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "test/native/test.h"

namespace fairlead::net {

namespace {

std::string ipOf(Random& random, size_t bytes) {
  std::string ip;
  // Few different bytes, so that ranges fit often.
  for (size_t i = 0; i < bytes; ++i) ip.push_back(static_cast<char>(random.below(3) << 6));
  return ip;
}

}  // namespace

TEST("A trie finds the ranges that hold an address, and no others") {
  Random random(7);
  for (int round = 0; round < 50; ++round) {
    CidrTrie trie;
    std::vector<Cidr> ranges;
    std::vector<uint32_t> values;
    for (uint32_t i = 0; i < 40; ++i) {
      plan::CidrRange range;
      range.ip = ipOf(random, random.below(2) == 0 ? 4 : 16);
      range.prefix_length = static_cast<uint32_t>(random.below(range.ip.size() * 8 + 1));
      ranges.emplace_back(range);
      values.push_back(i / 3);
      trie.add(range, i / 3);
    }
    for (int i = 0; i < 100; ++i) {
      const Address address = Address::fromIp(ipOf(random, i % 2 == 0 ? 4 : 16), 80);
      std::vector<uint32_t> expected;
      for (size_t at = 0; at < ranges.size(); ++at) {
        const bool is_new = expected.empty() || expected.back() != values[at];
        if (ranges[at].contains(address) && is_new) expected.push_back(values[at]);
      }
      std::vector<uint32_t> found;
      trie.find(address, &found);
      std::ranges::sort(found);
      EXPECT(found == expected);
    }
  }
}

TEST("The narrowest range comes first, and of one range what was added last") {
  CidrTrie trie;
  plan::CidrRange range;
  range.ip = std::string("\x0a\1\2\3", 4);
  const std::vector<std::pair<uint32_t, uint32_t>> added = {{8, 1}, {16, 0}, {8, 2}, {24, 1}};
  for (const auto& [bits, value] : added) {
    range.prefix_length = bits;
    trie.add(range, value);
  }
  std::vector<uint32_t> found;
  trie.find(Address::fromIp(range.ip, 80), &found);
  EXPECT(found == std::vector<uint32_t>({1, 0, 2}));
}

TEST("A pipe is in no range") {
  CidrTrie trie;
  plan::CidrRange all;
  all.ip = std::string(4, '\0');
  trie.add(all, 1);
  std::vector<uint32_t> found;
  trie.find(Address(), &found);
  EXPECT(found.empty());
}

}  // namespace fairlead::net
