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

std::shared_ptr<Host> KnownHosts::take(size_t at, const plan::Host& settings) {
  const Same same;
  if (at < hosts_.size() && !is_taken_[at] && same(&hosts_[at]->settings(), &settings)) {
    return takeAt(at);
  }
  if (by_address_.empty()) {
    by_address_.reserve(hosts_.size());
    for (size_t i = 0; i < hosts_.size(); ++i) by_address_.emplace(&hosts_[i]->settings(), i);
  }
  const auto [begin, end] = by_address_.equal_range(&settings);
  for (auto place = begin; place != end; ++place) {
    if (!is_taken_[place->second]) return takeAt(place->second);
  }
  return nullptr;
}

std::shared_ptr<Host> KnownHosts::takeAt(size_t at) {
  is_taken_[at] = true;
  return hosts_[at];
}

bool KnownHosts::Same::operator()(const plan::Host* a, const plan::Host* b) const {
  return isSameAddress(addressOf(*a), addressOf(*b));
}

size_t KnownHosts::Hash::operator()(const plan::Host* host) const {
  const plan::Address& address = addressOf(*host);
  const std::hash<std::string_view> hash;
  return hash(address.ip) ^ (hash(address.pipe) + address.port * 0x9e3779b97f4a7c15u);
}

}  // namespace fairlead::upstream
