// Where something stands that is discovered while the server runs, by its number. The control
// thread's.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

namespace fairlead::filters {

template <typename Place>
class DiscoveredPlaces {
 public:
  void add(const std::shared_ptr<Place>& place) {
    std::erase_if(places_, [](const auto& known) { return known.second.expired(); });
    places_[place->id()] = place;
  }
  // Null: there is none of this number, or not any more.
  std::shared_ptr<Place> find(uint64_t id) const {
    const auto found = places_.find(id);
    return found == places_.end() ? nullptr : found->second.lock();
  }

 private:
  // What they are part of holds them.
  std::map<uint64_t, std::weak_ptr<Place>> places_;
};

}  // namespace fairlead::filters
