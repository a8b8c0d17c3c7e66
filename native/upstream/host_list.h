// Hosts in order, and what is known of all of them. Immutable once its HostSet is made.
#pragma once

#include <cstddef>
#include <vector>

#include "upstream/host.h"

namespace fairlead::upstream {

class HostList {
 public:
  void add(Host* host) {
    is_weighted_ |= !hosts_.empty() && host->weight() != hosts_[0]->weight();
    hosts_.push_back(host);
  }
  size_t size() const { return hosts_.size(); }
  bool empty() const { return hosts_.empty(); }
  Host* operator[](size_t at) const { return hosts_[at]; }
  auto begin() const { return hosts_.begin(); }
  auto end() const { return hosts_.end(); }
  // Their weights differ.
  bool isWeighted() const { return is_weighted_; }
  uint64_t sumOfWeights() const {
    uint64_t sum = 0;
    for (const Host* host : hosts_) sum += host->weight();
    return sum;
  }
  bool operator==(const HostList& other) const { return hosts_ == other.hosts_; }

 private:
  std::vector<Host*> hosts_;
  bool is_weighted_ = false;
};

}  // namespace fairlead::upstream
