#include "net/filter_chain_match.h"

#include <algorithm>
#include <bit>

namespace fairlead::net {

namespace {

using SourceType = plan::FilterChainMatch::SourceType;

constexpr int kNoFit = -1;
constexpr int kSteps = 9;

// How well a list of ranges fits: the longest prefix that holds the address; 0 for "any".
int fitRanges(const std::vector<Cidr>& ranges, const Address& address) {
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
        static_cast<int>(i), chains[i].match.value_or(plan::FilterChainMatch()), {}, {}, {}, 0};
    for (const plan::CidrRange& range : entry.match.destination)
      entry.destination.emplace_back(range);
    for (const plan::CidrRange& range : entry.match.direct_source)
      entry.direct_source.emplace_back(range);
    for (const plan::CidrRange& range : entry.match.source) entry.source.emplace_back(range);
    entry.steps = entry.criteria();
    entries_.push_back(std::move(entry));
  }
  trivial_ = entries_.size() == 1 && !chains[static_cast<size_t>(entries_[0].chain)].match;
}

unsigned FilterChainMatch::Entry::criteria() const {
  const bool has[kSteps] = {match.destination_port != 0,          !destination.empty(),
                            !match.server_names.empty(),          !match.transport_protocol.empty(),
                            !match.application_protocols.empty(), !direct_source.empty(),
                            match.source_type != SourceType::Any, !source.empty(),
                            !match.source_ports.empty()};
  unsigned steps = 0;
  for (int step = 0; step < kSteps; ++step) steps |= has[step] ? 1u << step : 0;
  return steps;
}

int FilterChainMatch::Entry::fit(int step, const Facts& facts) const {
  if (!(steps >> step & 1)) return 0;
  switch (step) {
    case 0:
      return match.destination_port == facts.local.port() ? 1 : kNoFit;
    case 1:
      return fitRanges(destination, facts.local);
    case 3:
      return match.transport_protocol == "raw_buffer" ? 1 : kNoFit;
    case 5:
      return fitRanges(direct_source, facts.direct_remote);
    case 6:
      return fitSourceType(match.source_type, facts.local, facts.remote);
    case 7:
      return fitRanges(source, facts.remote);
    case 8:
      return fitPort(match.source_ports, facts.remote.port());
    default:
      // In the clear there is no server name and no application protocol; the transport is raw.
      return kNoFit;
  }
}

// The chain whose fits come first when they are compared step by step, as words are letter by
// letter. Where the best of a step is no fit, all that were left there are out.
int FilterChainMatch::find(const Address& local, const Address& direct_remote,
                           const Address& remote) const {
  if (trivial_) return entries_[0].chain;
  const Facts facts{local, direct_remote, remote};
  int best[kSteps] = {};
  int winner = kNone;
  // The steps where the best so far has another fit than 0, which all have without a criterion.
  unsigned decisive = 0;
  for (const Entry& entry : entries_) {
    int order = winner == kNone ? 1 : 0;
    for (unsigned left = entry.steps | decisive; order == 0 && left != 0; left &= left - 1) {
      const int step = std::countr_zero(left);
      order = entry.fit(step, facts) - best[step];
    }
    if (order <= 0) continue;
    winner = entry.chain;
    decisive = 0;
    for (int step = 0; step < kSteps; ++step) {
      best[step] = entry.fit(step, facts);
      if (best[step] != 0) decisive |= 1u << step;
    }
  }
  const bool fits = winner != kNone && std::find(best, best + kSteps, kNoFit) == best + kSteps;
  return fits ? winner : default_chain_;
}

}  // namespace fairlead::net
