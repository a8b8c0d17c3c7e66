// What updates bring to filters that stand already: their configurations, taps, keys, and what was
// asked for.
#include <utility>

#include "worker/data_plane.h"

namespace fairlead::worker {

namespace {

// What stands at a place, for each worker from its next turn on.
template <typename Workers, typename Place, typename Value>
void setEverywhere(const Workers& workers, const std::shared_ptr<Place>& place,
                   const Value& value) {
  for (const auto& worker : workers) {
    worker->post([index = worker->index(), place, value] { place->set(index, value); });
  }
}

}  // namespace

void DataPlane::applyDiscovered(const plan::DiscoveredFilter& plan,
                                std::vector<ApplyError>* errors) {
  const std::shared_ptr<filters::DiscoveredConfig> place = discovered_.find(plan.id);
  if (!place) return;
  auto made = place->make(plan);
  if (!made) {
    errors->push_back({"filter", std::to_string(plan.id), made.error().message});
    return;
  }
  setEverywhere(workers_, place, made.value());
}

void DataPlane::applyDiscovered(const plan::DiscoveredListenerFilter& plan,
                                std::vector<ApplyError>* errors) {
  const auto place = discovered_listener_filters_.find(plan.id);
  if (!place) return;
  auto made = filters::buildDiscovered(plan, builder_.filterParts());
  if (!made) {
    errors->push_back({"filter", std::to_string(plan.id), made.error().message});
    return;
  }
  setEverywhere(workers_, place, made.value());
}

// After what was published before: workers take it in order.
void DataPlane::tellMet(const std::vector<plan::Demand>& demands) {
  for (const plan::Demand& demand : demands) {
    const filters::DemandKey key{demand.kind, demand.source, demand.name};
    for (const auto& waiting : demands_.waiting()) {
      for (const auto& worker : workers_) {
        worker->post([index = worker->index(), waiting, key] { waiting->onMet(index, key); });
      }
    }
  }
}

void DataPlane::applyTap(const plan::TapFilter& plan, std::vector<ApplyError>* errors) {
  const std::shared_ptr<filters::TapConfig> tap = taps_.find(plan.id);
  if (!tap) {
    errors->push_back({"tap", std::to_string(plan.id), "there is no tap filter of this number"});
    return;
  }
  std::shared_ptr<const filters::TapSettings> settings;
  if (plan.tap) {
    auto built = filters::TapSettings::build(*plan.tap);
    if (!built) {
      errors->push_back({"tap", std::to_string(plan.id), built.error().message});
      return;
    }
    settings = std::move(built.value());
  }
  setEverywhere(workers_, tap, settings);
}

void DataPlane::applyJwks(const plan::JwksUpdate& plan, std::vector<ApplyError>* errors) {
  const std::shared_ptr<filters::JwtKeyStore> store = jwt_keys_.find(plan.id);
  if (!store) {
    errors->push_back({"jwks", std::to_string(plan.id), "nobody wants keys of this number"});
    return;
  }
  filters::JwtKeyStore::Keys keys;
  if (plan.jwks) {
    auto built = filters::JwtKeySet::build(*plan.jwks);
    if (built) keys = std::move(built.value());
  }
  store->count(keys != nullptr);
  for (const auto& worker : workers_) {
    worker->post([index = worker->index(), store, keys] {
      store->deliver(index, keys, net::Loop::readClockMicros() / 1000);
    });
  }
}

}  // namespace fairlead::worker
