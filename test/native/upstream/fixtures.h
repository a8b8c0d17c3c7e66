// Hosts for tests, and how often each is chosen.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "upstream/balancer.h"

namespace fairlead::test {

using upstream::Balancer;
using upstream::BalancerSettings;
using upstream::Host;
using upstream::HostSet;
using upstream::HostSetRules;

using Health = plan::Host::Health;

class Hosts {
 public:
  explicit Hosts(unsigned workers = 1) : workers_(workers) {}

  // Of ports 1, 2, …
  Hosts& add(uint32_t weight = 1, uint32_t priority = 0, Health health = Health::Healthy) {
    plan::Host host;
    host.address.emplace().ip = std::string("\x0a\0\0\1", 4);
    host.address->port = static_cast<uint32_t>(list_.size() + 1);
    host.weight = weight;
    host.priority = priority;
    host.health = health;
    return add(host);
  }
  // In a zone, of which each host says the weight.
  Hosts& addIn(const std::string& zone, uint32_t zone_weight = 0, Health health = Health::Healthy,
               uint32_t weight = 1) {
    plan::Host host;
    host.address.emplace().ip = std::string("\x0a\0\0\1", 4);
    host.address->port = static_cast<uint32_t>(list_.size() + 1);
    host.weight = weight;
    host.health = health;
    host.zone = zone;
    host.locality_weight = zone_weight;
    return add(host);
  }
  Hosts& add(const plan::Host& host) {
    list_.push_back(std::make_shared<Host>(std::make_shared<const plan::Host>(host), workers_));
    return *this;
  }
  HostSet set(uint32_t panic_pct = 50) const { return HostSet(list_, nullptr, panic_pct, 140); }
  HostSet set(HostSetRules rules) const { return HostSet(list_, nullptr, std::move(rules)); }
  // Of a proxy in `here`.
  HostSet zones(const std::string& here, uint32_t panic_pct = 50) const {
    return set(HostSetRules{
        .panic_threshold_pct = panic_pct, .groups_localities = true, .here = {"", here, ""}});
  }
  Host& at(size_t index) const { return *list_[index]; }
  const std::vector<std::shared_ptr<Host>>& list() const { return list_; }

 private:
  const unsigned workers_;
  std::vector<std::shared_ptr<Host>> list_;
};

// How often each port was chosen; 0: nobody.
using Counts = std::map<unsigned, int>;

inline Counts choose(const HostSet& set, const BalancerSettings& settings, int times,
                     const HostSet* local = nullptr, uint64_t seed = 1) {
  Random random(seed);
  Balancer balancer(settings, 0, random);
  balancer.setHosts(set, local);
  Counts counts;
  for (int i = 0; i < times; ++i) {
    const Host* host = balancer.choose().host;
    ++counts[host ? host->address().port() : 0];
  }
  return counts;
}

// Whether hosts 1, 2, … were chosen as often as these parts have it, by Pearson's statistic: it
// stays below what one sample in 100,000 exceeds by chance (Wilson and Hilferty's approximation, a
// little above the truth). Where a part is 0 nobody may have been.
inline bool areSharedAs(const Counts& counts, const std::vector<double>& parts) {
  double whole = 0;
  int hosts = 0;
  for (const double part : parts) {
    whole += part;
    hosts += part > 0;
  }
  int times = 0;
  for (const auto& [port, count] : counts) {
    if (port == 0 || port > parts.size() || parts[port - 1] == 0) return false;
    times += count;
  }
  double sum = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] == 0) continue;
    const auto found = counts.find(static_cast<unsigned>(i + 1));
    const double seen = found == counts.end() ? 0 : found->second;
    const double expected = parts[i] / whole * times;
    sum += (seen - expected) * (seen - expected) / expected;
  }
  constexpr double kQuantile = 4.265;
  const double part = 2.0 / (9 * std::max(hosts - 1, 1));
  return sum < std::max(hosts - 1, 1) * std::pow(1 - part + kQuantile * std::sqrt(part), 3);
}

}  // namespace fairlead::test
