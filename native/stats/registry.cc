#include "stats/registry.h"

#include <algorithm>

namespace fairlead::stats {

std::shared_ptr<BlockBase> Registry::find(const std::string& prefix, const StatName* layout) const {
  const auto place = blocks_.find(prefix);
  if (place == blocks_.end()) return nullptr;
  for (const std::weak_ptr<BlockBase>& weak : place->second) {
    std::shared_ptr<BlockBase> block = weak.lock();
    if (block && block->names(Kind::Counter).data() == layout) return block;
  }
  return nullptr;
}

void Registry::insert(std::shared_ptr<BlockBase> block) {
  auto& place = blocks_[block->scope().prefix];
  std::erase_if(place, [](const std::weak_ptr<BlockBase>& weak) { return weak.expired(); });
  place.push_back(block);
}

std::vector<std::shared_ptr<BlockBase>> Registry::blocks() const {
  std::vector<std::shared_ptr<BlockBase>> result;
  result.reserve(blocks_.size());
  for (const auto& [prefix, place] : blocks_) {
    for (const std::weak_ptr<BlockBase>& weak : place) {
      if (std::shared_ptr<BlockBase> block = weak.lock()) result.push_back(std::move(block));
    }
  }
  std::sort(result.begin(), result.end(), [](const auto& a, const auto& b) {
    return a->scope().prefix < b->scope().prefix;
  });
  return result;
}

std::optional<Registry::Handle> Registry::findStat(std::string_view name) const {
  // The scope is the part before some dot: the longest that knows the rest.
  for (size_t dot = name.rfind('.'); dot != std::string_view::npos && dot > 0;
       dot = name.rfind('.', dot - 1)) {
    const auto place = blocks_.find(std::string(name.substr(0, dot + 1)));
    if (place == blocks_.end()) continue;
    const std::string_view rest = name.substr(dot + 1);
    for (const std::weak_ptr<BlockBase>& weak : place->second) {
      std::shared_ptr<BlockBase> block = weak.lock();
      if (!block) continue;
      for (const Kind kind : {Kind::Counter, Kind::Gauge, Kind::Histogram}) {
        const std::span<const StatName> names = block->names(kind);
        for (size_t i = 0; i < names.size(); ++i) {
          if (names[i].name == rest) return Handle{std::move(block), kind, i};
        }
      }
    }
  }
  return std::nullopt;
}

std::optional<uint64_t> Registry::value(std::string_view name) const {
  const std::optional<Handle> found = findStat(name);
  if (!found || found->kind == Kind::Histogram) return std::nullopt;
  return found->kind == Kind::Counter ? found->block->counter(found->index)
                                      : found->block->gauge(found->index);
}

void Registry::flushHistograms() {
  for (const std::shared_ptr<BlockBase>& block : blocks()) block->flushHistograms();
}

void Registry::resetCounters() {
  for (const std::shared_ptr<BlockBase>& block : blocks()) block->resetCounters();
}

}  // namespace fairlead::stats
