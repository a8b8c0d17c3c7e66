// Scopes that begin anew while one of their name is held: a cluster that takes another's place has
// new statistics, of which some are there in any case, and so are the same, and others are made as
// they are first counted. As long as both are held all have the numbers of both.
#include <algorithm>
#include <utility>

#include "stats/block.h"

namespace fairlead::stats {

namespace {

uint64_t takeSlot(const ShardView& shard, Place place) {
  Slot* const slots = shard.groups[place.group].load();
  return slots ? slots[place.slot].exchange(0) : 0;
}

void addTo(Slot* slot, uint64_t amount) {
  slot->store(slot->load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
}

// What is remembered of a number that stays behind stays with it.
void leave(size_t index, SparseCounts* here, SparseCounts* there) {
  there->set(index, (*here)[index]);
  here->set(index, 0);
}

}  // namespace

void BlockBase::succeed(std::shared_ptr<BlockBase> before) {
  shareOwnShard(*before);
  is_hidden_ = before->is_hidden_;
  memory_ = std::move(before->memory_);
  // A configuration may want others.
  if (memory_) std::ranges::for_each(memory_->rejected, [](auto& names) { names.clear(); });
  formers_ = std::exchange(before->formers_, {});
  formers_.insert(formers_.begin(), std::move(before));
}

bool BlockBase::dropFormer(const BlockBase& ended) {
  return std::erase_if(formers_, [&](const auto& former) { return former.get() == &ended; }) > 0;
}

std::shared_ptr<BlockBase> BlockBase::handBack() {
  if (formers_.empty()) return nullptr;
  std::shared_ptr<BlockBase> former = std::move(formers_.front());
  formers_.erase(formers_.begin());
  former->formers_ = std::exchange(formers_, {});
  former->memory_ = std::move(memory_);
  former->inherit(*this);
  return former;
}

bool BlockBase::showsCompanionsOf(size_t counter, bool is_used) const {
  const auto shows = [](const BlockBase& block) {
    return block.shows_companions_.load(std::memory_order_relaxed);
  };
  if (shows(*this) || std::ranges::any_of(formers_, [&](const auto& one) { return shows(*one); })) {
    return true;
  }
  const bool has_others = view(shardCount() - 1) || !formers_.empty();
  if (!is_used || !has_others) return is_used;
  // What was inherited was counted beside companions that have ended.
  if (memory().imported_counters[counter] > 0) return true;
  const Place place = layout_.counter_places[counter];
  const auto counts = [place](const BlockBase& block, size_t first) {
    for (size_t i = first; i + 1 < block.shardCount(); ++i) {
      const auto shard = block.view(i);
      const Slot* const slots = shard ? shard->group(place.group) : nullptr;
      if (slots && slots[place.slot].load(std::memory_order_relaxed) > 0) return true;
    }
    return false;
  };
  return counts(*this, 0) ||
         std::ranges::any_of(formers_, [&](const auto& one) { return counts(*one, 1); });
}

bool BlockBase::hasCode(uint16_t status, CodeVariant variant) const {
  bool has = false;
  forEachShard([&](const ShardView& shard) {
    if (!shard.codes) return;
    shard.codes->forEach([&](uint16_t other_status, CodeVariant other_variant, uint64_t) {
      has = has || (other_status == status && other_variant == variant);
    });
  });
  return has;
}

void BlockBase::inherit(BlockBase& ended) {
  if (layout_.is_late && !isWritten()) {
    ended.memory_ = std::move(memory_);
    return;
  }
  inheritCounters(ended);
  inheritGauges(ended);
  if (layout_.has_codes) inheritCodes(ended);
  inheritHistograms(ended);
}

void BlockBase::inheritCounters(BlockBase& ended) {
  // All of them before any comes.
  std::vector<bool> goes_on(layout_.counters.size());
  for (size_t i = 0; i < goes_on.size(); ++i) {
    const StatName& name = layout_.counters[i];
    switch (name.shown) {
      case Shown::Always:
        goes_on[i] = true;
        break;
      case Shown::OnceUsed:
        goes_on[i] = sumOf(layout_.counter_places[i]) > 0;
        break;
      case Shown::With:
        goes_on[i] = showsCompanionsOf(name.companion, counter(name.companion).used);
        break;
    }
  }
  for (size_t i = 0; i < goes_on.size(); ++i) {
    const Place place = layout_.counter_places[i];
    if (!goes_on[i]) {
      leave(i, &remember().counter_baseline, &ended.remember().counter_baseline);
      leave(i, &remember().sent_counters, &ended.remember().sent_counters);
      continue;
    }
    uint64_t sum = 0;
    ended.forEachShardBeyondFirst([&](const ShardView& shard) { sum += takeSlot(shard, place); });
    if (sum > 0) addTo(inheritedSlots(place), sum);
  }
}

void BlockBase::inheritGauges(BlockBase& ended) {
  for (size_t i = 0; i < layout_.gauges.size(); ++i) {
    const Reading here = gauge(i);
    if (layout_.gauges[i].shown != Shown::Always && !here.used && !here.is_imported) continue;
    const Place place = layout_.gauge_places[i];
    for (const size_t side : {kUp, kDown}) {
      const Place at{place.group, static_cast<uint8_t>(place.slot + side)};
      uint64_t sum = 0;
      ended.forEachShardBeyondFirst([&](const ShardView& shard) { sum += takeSlot(shard, at); });
      if (sum > 0) addTo(inheritedSlots(at), sum);
    }
  }
}

void BlockBase::inheritCodes(BlockBase& ended) {
  ended.forEachShardBeyondFirst([&](const ShardView& shard) {
    if (!shard.codes) return;
    shard.codes->takeOut([&](uint16_t status, CodeVariant variant, uint64_t count) {
      if (!hasCode(status, variant)) return false;
      inheritedCodes().add(variant, status, count);
      return true;
    });
  });
  // Of names that are here no more nothing is remembered here, and of others no more than they are.
  const std::vector<Code> now = rawCodes();
  const auto keepThese = [&now](std::vector<Code>* here, std::vector<Code>* there) {
    std::erase_if(*here, [&](Code& code) {
      const auto known = std::ranges::find(now, code.name, &Code::name);
      if (known == now.end()) {
        there->push_back(code);
        return true;
      }
      code.value = std::min(code.value, known->value);
      return false;
    });
  };
  keepThese(&remember().code_baseline, &ended.remember().code_baseline);
  keepThese(&remember().sent_codes, &ended.remember().sent_codes);
}

void BlockBase::inheritHistograms(BlockBase& ended) {
  for (size_t i = 0; i < layout_.histograms.size(); ++i) {
    if (layout_.histograms[i].shown == Shown::Always || isRecorded(i)) {
      ended.forEachShardBeyondFirst([&](const ShardView& shard) {
        HistogramCells* const cells = shard.histograms[i].load();
        if (cells && cells->recorded() > 0) inheritedCells(i).takeOver(*cells);
      });
      continue;
    }
    std::vector<std::unique_ptr<Flushed>>& here = remember().histograms;
    if (i >= here.size() || !here[i]) continue;
    std::vector<std::unique_ptr<Flushed>>& there = ended.remember().histograms;
    there.resize(here.size());
    there[i] = std::move(here[i]);
  }
}

}  // namespace fairlead::stats
