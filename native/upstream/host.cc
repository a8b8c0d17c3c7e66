#include "upstream/host.h"

#include <functional>
#include <string_view>

namespace fairlead::upstream {

namespace {

const plan::Address& addressOf(const plan::Host& host) {
  static const plan::Address nowhere;
  return host.address ? *host.address : nowhere;
}

bool isSameAddress(const plan::Address& a, const plan::Address& b) {
  return a.port == b.port && a.ip == b.ip && a.pipe == b.pipe;
}

}  // namespace

bool isSameHost(const plan::Host& a, const plan::Host& b) {
  return a.weight == b.weight && a.priority == b.priority && a.health == b.health &&
         a.canary == b.canary && a.locality_weight == b.locality_weight &&
         isSameAddress(addressOf(a), addressOf(b)) && a.hostname == b.hostname &&
         a.region == b.region && a.zone == b.zone && a.sub_zone == b.sub_zone &&
         a.labels == b.labels;
}

std::shared_ptr<Host> KnownHosts::find(size_t at, const plan::Host& settings) {
  if (at < hosts_.size() && isSameHost(hosts_[at]->settings(), settings)) return hosts_[at];
  if (by_settings_.empty()) {
    by_settings_.reserve(hosts_.size());
    for (const auto& host : hosts_) by_settings_.emplace(&host->settings(), host);
  }
  const auto found = by_settings_.find(&settings);
  return found == by_settings_.end() ? nullptr : found->second;
}

size_t KnownHosts::Hash::operator()(const plan::Host* host) const {
  const plan::Address& address = addressOf(*host);
  const std::hash<std::string_view> hash;
  return hash(address.ip) ^ (hash(address.pipe) + address.port * 0x9e3779b97f4a7c15u);
}

}  // namespace fairlead::upstream
