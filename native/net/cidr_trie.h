// Which of many ranges of addresses an address is in: a binary trie for each family, so that a
// look-up takes as many steps as the longest range that fits has bits, however many ranges there
// are. Immutable once it is filled; any thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

#include "net/address.h"

namespace fairlead::net {

class CidrTrie {
 public:
  // `value`: what is found under the range; several ranges may have the same.
  void add(const plan::CidrRange& range, uint32_t value) {
    const std::string_view ip = range.ip;
    if (ip.size() != 4 && ip.size() != 16) return;
    uint32_t at = rootOf(ip);
    const size_t bits = std::min<size_t>(range.prefix_length, ip.size() * 8);
    for (size_t i = 0; i < bits; ++i) {
      const uint32_t next = nodes_[at].next[bitOf(ip, i)];
      if (next != 0) {
        at = next;
        continue;
      }
      const auto made = static_cast<uint32_t>(nodes_.size());
      nodes_.emplace_back();
      nodes_[at].next[bitOf(ip, i)] = made;
      at = made;
    }
    nodes_[at].values.push_back(value);
  }

  // All values of ranges that have the address, each once: the narrowest range first, and of one
  // range what was added last.
  void find(const Address& address, std::vector<uint32_t>* values) const {
    const std::string_view ip = address.ipBytes();
    if (ip.empty()) return;
    const size_t before = values->size();
    const auto first = [&] { return values->begin() + static_cast<ptrdiff_t>(before); };
    uint32_t at = rootOf(ip);
    for (size_t i = 0;; ++i) {
      const Node& node = nodes_[at];
      for (const uint32_t value : node.values) {
        values->erase(std::remove(first(), values->end(), value), values->end());
        values->push_back(value);
      }
      if (i == ip.size() * 8) break;
      at = node.next[bitOf(ip, i)];
      if (at == 0) break;
    }
    std::reverse(first(), values->end());
  }

 private:
  struct Node {
    // 0: there is none.
    uint32_t next[2] = {};
    std::vector<uint32_t> values;
  };

  static uint32_t rootOf(std::string_view ip) { return ip.size() == 4 ? 0 : 1; }
  static unsigned bitOf(std::string_view ip, size_t bit) {
    return static_cast<uint8_t>(ip[bit / 8]) >> (7 - bit % 8) & 1;
  }

  // The first two are the roots.
  std::vector<Node> nodes_{2};
};

}  // namespace fairlead::net
