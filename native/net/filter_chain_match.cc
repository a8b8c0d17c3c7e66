#include "net/filter_chain_match.h"

#include <algorithm>

namespace fairlead::net {

namespace {

using SourceType = plan::FilterChainMatch::SourceType;

constexpr int kNoFit = -1;

// How well a list of ranges fits: the longest prefix that holds the address; 0 for "any".
int fit(const std::vector<Cidr>& ranges, const Address& address) {
  if (ranges.empty()) return 0;
  int best = kNoFit;
  for (const Cidr& range : ranges) {
    // Longer than "any", even for a prefix of no bits.
    if (range.contains(address)) best = std::max(best, static_cast<int>(range.prefixLength()) + 1);
  }
  return best;
}

int fitSourceType(SourceType type, const Address& local, const Address& remote) {
  if (type == SourceType::Any) return 0;
  const bool near = remote.isLoopback() || !remote.isIp() || remote.sameIp(local);
  return (type == SourceType::SameIpOrLoopback) == near ? 1 : kNoFit;
}

int fitPort(const std::vector<uint32_t>& ports, uint16_t port) {
  if (ports.empty()) return 0;
  return std::find(ports.begin(), ports.end(), port) == ports.end() ? kNoFit : 1;
}

}  // namespace

FilterChainMatch::FilterChainMatch(const std::vector<plan::FilterChain>& chains) {
  for (size_t i = 0; i < chains.size(); ++i) {
    if (chains[i].is_default) {
      default_chain_ = static_cast<int>(i);
      continue;
    }
    Entry entry{
        static_cast<int>(i), chains[i].match.value_or(plan::FilterChainMatch()), {}, {}, {}};
    for (const plan::CidrRange& range : entry.match.destination)
      entry.destination.emplace_back(range);
    for (const plan::CidrRange& range : entry.match.direct_source)
      entry.direct_source.emplace_back(range);
    for (const plan::CidrRange& range : entry.match.source) entry.source.emplace_back(range);
    entries_.push_back(std::move(entry));
  }
  trivial_ = entries_.size() == 1 && !chains[static_cast<size_t>(entries_[0].chain)].match;
}

int FilterChainMatch::find(const Address& local, const Address& direct_remote,
                           const Address& remote) const {
  if (trivial_) return entries_[0].chain;
  std::vector<const Entry*> left;
  for (const Entry& entry : entries_) left.push_back(&entry);
  // Keeps those whose fit is the best of all.
  const auto keepBest = [&left](auto fitOf) {
    int best = kNoFit;
    for (const Entry* entry : left) best = std::max(best, fitOf(*entry));
    std::erase_if(left,
                  [&](const Entry* entry) { return best == kNoFit || fitOf(*entry) != best; });
  };
  keepBest([&](const Entry& entry) {
    if (entry.match.destination_port == 0) return 0;
    return entry.match.destination_port == local.port() ? 1 : kNoFit;
  });
  keepBest([&](const Entry& entry) { return fit(entry.destination, local); });
  // In the clear there is no server name and no application protocol; the transport is raw.
  keepBest([&](const Entry& entry) { return entry.match.server_names.empty() ? 0 : kNoFit; });
  keepBest([&](const Entry& entry) {
    const std::string& transport = entry.match.transport_protocol;
    return transport.empty() ? 0 : (transport == "raw_buffer" ? 1 : kNoFit);
  });
  keepBest(
      [&](const Entry& entry) { return entry.match.application_protocols.empty() ? 0 : kNoFit; });
  keepBest([&](const Entry& entry) { return fit(entry.direct_source, direct_remote); });
  keepBest(
      [&](const Entry& entry) { return fitSourceType(entry.match.source_type, local, remote); });
  keepBest([&](const Entry& entry) { return fit(entry.source, remote); });
  keepBest([&](const Entry& entry) { return fitPort(entry.match.source_ports, remote.port()); });
  return left.empty() ? default_chain_ : left.front()->chain;
}

}  // namespace fairlead::net
