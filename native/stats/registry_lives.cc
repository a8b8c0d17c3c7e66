// Blocks that take the place of others of their scope: who is on the pages, and whose numbers
// statistics have (block_lives.cc has what becomes of counts).
#include <algorithm>
#include <utility>

#include "stats/registry.h"

namespace fairlead::stats {

std::shared_ptr<BlockBase> Registry::putInPlaceOf(BlockBase& before,
                                                  std::unique_ptr<BlockBase> made) {
  std::shared_ptr<BlockBase> block(std::move(made));
  std::shared_ptr<BlockBase> held = prepare(block);
  moveIds(before, *block);
  block->succeed(takeOut(before));
  insert(std::move(block));
  return held;
}

std::shared_ptr<BlockBase> Registry::takeOut(const BlockBase& block) {
  const auto [first, last] = blocks_.equal_range(std::string_view(block.scope().prefix));
  const auto place =
      std::find_if(first, last, [&](const auto& one) { return one.get() == &block; });
  if (place == last) return nullptr;
  if (recent_ == place) recent_ = blocks_.end();
  return std::move(blocks_.extract(place).value());
}

void Registry::endFormer(BlockBase& ended) {
  const auto [first, last] = blocks_.equal_range(std::string_view(ended.scope().prefix));
  for (auto block = first; block != last; ++block) {
    if ((*block)->dropFormer(ended)) (*block)->inherit(ended);
  }
}

void Registry::moveIds(const BlockBase& from, BlockBase& to) {
  auto places = places_of_.extract(&from);
  if (!places) return;
  for (const uint32_t place : places.mapped()) stats_[place].block = &to;
  places.key() = &to;
  places_of_.insert(std::move(places));
}

}  // namespace fairlead::stats
