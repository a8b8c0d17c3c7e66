// Which host has which hashes, so that the same request finds the same host, in all workers and all
// proxies that know the same hosts. Made by the control thread, shared by all, immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "plan/plan.gen.h"
#include "upstream/host_list.h"

namespace fairlead::upstream {

// A host with its share of all hashes; together they are 1.
struct HashShare {
  Host* host = nullptr;
  double share = 0;
};

// Who asks for a host.
struct HashPick {
  uint64_t hash = 0;
  // How many hosts were found for this request and refused.
  uint32_t attempt = 0;
  // Of the whole cluster, on all workers.
  uint64_t active_requests = 0;
};

class HashTable {
 public:
  // How many places of the table hosts have.
  struct Figures {
    uint64_t size = 0;
    uint64_t min_per_host = 0;
    uint64_t max_per_host = 0;
  };

  virtual ~HashTable() = default;
  // Never null: a table is made of one host or more.
  virtual Host* find(const HashPick& pick) const = 0;
  const Figures& figures() const { return figures_; }

 protected:
  void count(uint64_t places_of_host);

  Figures figures_;
};

// What hosts are known by.
std::string_view hashKey(const Host& host, bool by_hostname);

// Hosts by the nearest of the points that each has on a ring, as Ketama has it
// (github.com/RJ/ketama).
class RingTable final : public HashTable {
 public:
  RingTable(const std::vector<HashShare>& shares, const plan::HashTable& settings);
  Host* find(const HashPick& pick) const override;

 private:
  std::vector<Host*> hosts_;
  // Ascending, and whose they are.
  std::vector<uint64_t> points_;
  std::vector<uint32_t> owners_;
};

// Numbers of so many bits each, side by side.
class PackedNumbers {
 public:
  PackedNumbers(size_t count, uint32_t bits)
      : bits_(bits), mask_((uint64_t{1} << bits) - 1), words_(count * bits / 64 + 2) {}
  uint64_t at(size_t index) const {
    const size_t bit = index * bits_;
    const size_t shift = bit % 64;
    const uint64_t low = words_[bit / 64] >> shift;
    const uint64_t high = shift == 0 ? 0 : words_[bit / 64 + 1] << (64 - shift);
    return (low | high) & mask_;
  }
  // Once for each.
  void set(size_t index, uint64_t value) {
    const size_t bit = index * bits_;
    const size_t shift = bit % 64;
    words_[bit / 64] |= value << shift;
    if (shift + bits_ > 64) words_[bit / 64 + 1] |= value >> (64 - shift);
  }

 private:
  // Less than 64.
  const uint32_t bits_;
  const uint64_t mask_;
  std::vector<uint64_t> words_;
};

// Maglev's table: D. E. Eisenbud et al., "Maglev: A Fast and Reliable Software Network Load
// Balancer", section 3.4, with weights.
class MaglevTable final : public HashTable {
 public:
  MaglevTable(const std::vector<HashShare>& shares, const plan::HashTable& settings);
  Host* find(const HashPick& pick) const override;

 private:
  const uint64_t size_;
  std::vector<Host*> hosts_;
  // Places of hosts_.
  PackedNumbers table_;
};

}  // namespace fairlead::upstream
