#include "upstream/host.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <string_view>

namespace fairlead::upstream {

namespace {

const plan::Address& orNowhere(const Boxed<plan::Address>& address) {
  static const plan::Address nowhere;
  return address ? *address : nowhere;
}

const plan::Address& addressOf(const plan::Host& host) { return orNowhere(host.address); }

bool isSameAddress(const plan::Address& a, const plan::Address& b) {
  return a.port == b.port && a.ip == b.ip && a.pipe == b.pipe &&
         a.internal_listener == b.internal_listener && a.endpoint_id == b.endpoint_id;
}

bool isSameValue(const plan::HostValue& a, const plan::HostValue& b) {
  return a.is_locality == b.is_locality && a.metadata_namespace == b.metadata_namespace &&
         a.path == b.path && a.value == b.value;
}

bool isSameSpace(const plan::MetadataSpace& a, const plan::MetadataSpace& b) {
  const auto isSame = [](const plan::MetadataValue& one, const plan::MetadataValue& other) {
    return one.path == other.path && one.text == other.text && one.is_json == other.is_json;
  };
  return a.name == b.name && std::ranges::equal(a.values, b.values, isSame);
}

// What says how it is reached.
bool isReachedAlike(const plan::Host& a, const plan::Host& b) {
  return a.socket_labels == b.socket_labels &&
         a.locality_socket_labels == b.locality_socket_labels &&
         std::ranges::equal(a.socket_values, b.socket_values, isSameValue) &&
         std::ranges::equal(a.metadata, b.metadata, isSameSpace);
}

bool isSamePlace(const plan::Host& a, const plan::Host& b) {
  return isSameAddress(addressOf(a), addressOf(b)) &&
         isSameAddress(orNowhere(a.proxy_address), orNowhere(b.proxy_address));
}

}  // namespace

uint64_t hostClockMs() {
  using namespace std::chrono;
  const auto now = steady_clock::now().time_since_epoch();
  return static_cast<uint64_t>(duration_cast<milliseconds>(now).count());
}

bool Host::changeHealth(HealthFlags cleared, HealthFlags set) {
  const HealthFlags before = HealthFlags::ofBits(health_.load(std::memory_order_relaxed));
  const HealthFlags after = before.without(cleared) | set;
  if (after == before) return false;
  const bool was_healthy = isHealthy();
  health_.store(after.bits(), std::memory_order_relaxed);
  if (isHealthy() && !was_healthy) {
    healthy_since_ms_.store(hostClockMs(), std::memory_order_relaxed);
  }
  return true;
}

// As in the real server, how it is checked and its other addresses are asked of a host when it is
// new.
bool isSameHost(const plan::Host& a, const plan::Host& b) {
  return a.weight == b.weight && a.priority == b.priority && a.health == b.health &&
         a.locality_weight == b.locality_weight && isSamePlace(a, b) && a.hostname == b.hostname &&
         a.region == b.region && a.zone == b.zone && a.sub_zone == b.sub_zone &&
         isDescribedAlike(a, b);
}

bool isDescribedAlike(const plan::Host& a, const plan::Host& b) {
  return a.canary == b.canary && a.labels == b.labels && a.list_labels == b.list_labels &&
         a.hash_key == b.hash_key && isReachedAlike(a, b);
}

bool isCheckedAlike(const plan::Host& a, const plan::Host& b) {
  return isSameAddress(orNowhere(a.check_address), orNowhere(b.check_address));
}

std::shared_ptr<Host> KnownHosts::take(size_t at, const plan::Host& settings) {
  const Same same;
  const auto isAlike = [&](size_t i) { return isCheckedAlike(hosts_[i]->settings(), settings); };
  if (at < hosts_.size() && !is_taken_[at] && same(&hosts_[at]->settings(), &settings) &&
      isAlike(at)) {
    return takeAt(at);
  }
  if (by_address_.empty()) {
    by_address_.reserve(hosts_.size());
    for (size_t i = 0; i < hosts_.size(); ++i) by_address_.emplace(&hosts_[i]->settings(), i);
  }
  const auto [begin, end] = by_address_.equal_range(&settings);
  std::optional<size_t> other;
  for (auto place = begin; place != end; ++place) {
    if (is_taken_[place->second]) continue;
    if (isAlike(place->second)) return takeAt(place->second);
    if (!other) other = place->second;
  }
  return other ? takeAt(*other) : nullptr;
}

std::shared_ptr<Host> KnownHosts::takeAt(size_t at) {
  is_taken_[at] = true;
  return hosts_[at];
}

bool KnownHosts::Same::operator()(const plan::Host* a, const plan::Host* b) const {
  return isSamePlace(*a, *b) && a->is_named == b->is_named &&
         (!a->is_named || a->hostname == b->hostname);
}

size_t KnownHosts::Hash::operator()(const plan::Host* host) const {
  const plan::Address& address = addressOf(*host);
  const std::hash<std::string_view> hash;
  return hash(address.ip) ^ hash(address.internal_listener) ^
         (hash(address.pipe) + address.port * 0x9e3779b97f4a7c15u);
}

}  // namespace fairlead::upstream
