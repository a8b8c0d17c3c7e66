// Every scope there is. The control thread's; blocks are shared with the workers that write to
// them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "stats/block.h"
#include "stats/scopes.h"
#include "stats/tags.h"

namespace fairlead::stats {

// Upper bounds of the buckets of those histograms whose full name matches.
struct BucketRule {
  NameTest matches;
  std::vector<double> bounds;
};

class Registry {
 public:
  // Threads that write: the control thread, the workers, and the log flusher. `keeps_samples`: a
  // sink wants the single values of histograms.
  explicit Registry(unsigned workers, bool keeps_samples = false)
      : threads_(workers + 2),
        rings_(keeps_samples ? std::make_unique<SampleRing[]>(threads_) : nullptr) {}

  // The block of a scope: the one that exists, or a new one. It leaves the registry when nobody
  // holds it any more.
  template <typename L>
  std::shared_ptr<Block<L>> create(const Scope& scope) {
    if (std::shared_ptr<BlockBase> existing = find(scope.prefix, L::kLayout)) {
      return std::static_pointer_cast<Block<L>>(existing);
    }
    const uint32_t id = rings_ ? next_id_++ : 0;
    auto block = std::make_shared<Block<L>>(scope, threads_, rings_.get(), id);
    if (rings_) sampled_[id] = block;
    block->setRejection(&rejects_);
    insert(block);
    return block;
  }

  // A statistic by its full name; while it is held, so is its scope.
  struct Handle {
    std::shared_ptr<BlockBase> block;
    Kind kind;
    size_t index;
  };
  std::optional<Handle> findStat(std::string_view name) const;

  // The same as a number, which is valid for ever and holds nothing: what is written after the end
  // of the scope is lost.
  using StatId = uint32_t;
  std::optional<StatId> idOf(std::string_view name);
  Kind kindOf(StatId id) const { return stats_[id].kind; }
  // Each for its kind only. To add 0 to a counter marks it used.
  void add(StatId counter, uint64_t amount);
  void set(StatId gauge, uint64_t value);
  void record(StatId histogram, uint64_t value);
  void setText(StatId text, std::string value);

  // The sum over all threads of a counter or gauge by its full name, counts by status among them.
  std::optional<uint64_t> value(std::string_view name) const;

  // ---- what an earlier process counted, until the end of this one ----
  // Adds to a counter of the scope; kept for a scope that does not exist yet.
  void importCounter(const std::string& prefix, std::string_view name, uint64_t amount);
  // Sets that process's part of a gauge; kept for a scope that does not exist yet.
  void importGauge(const std::string& prefix, std::string_view name, uint64_t value);
  void dropImportedGauges();
  // Sinks have what was imported up to now.
  void markImportedSent();
  // Calls visit(prefix, name, amount) for each counter whose scope does not exist yet.
  template <typename Visit>
  void forEachKept(Visit visit) const {
    for (const auto& [prefix, counters] : kept_) {
      for (const auto& [name, amount] : counters) visit(prefix, name, amount);
    }
  }

  // What was recorded since the previous call becomes the interval.
  void flushHistograms();
  // Counters read 0 from here on.
  void resetCounters();

  // The first that matches counts; without one the bounds are kBucketBounds.
  void setBucketRules(std::vector<BucketRule> rules) { bucket_rules_ = std::move(rules); }
  std::span<const double> bucketBounds(std::string_view histogram) const;

  // Full names that are never shown nor sent; empty: none is rejected.
  void setRejection(NameTest rejects) { rejects_ = std::move(rejects); }
  bool rejects(std::string_view name) const { return rejects_ && rejects_(name); }
  // Labels that every series has.
  void setFixedLabels(std::vector<Label> labels) { fixed_labels_ = std::move(labels); }
  const std::vector<Label>& fixedLabels() const { return fixed_labels_; }
  // Where labels are not those of the scopes; null: they are.
  void setTagProducer(std::unique_ptr<TagProducer> producer) { tags_ = std::move(producer); }
  const TagProducer* tagProducer() const { return tags_.get(); }

  // Calls visit(block, histogram, value) for single values that were recorded since the last call,
  // up to `limit` of each thread; those of scopes that are gone are left out. False: none is left.
  bool takeSamples(size_t limit,
                   const std::function<void(const BlockBase&, size_t, uint64_t)>& visit);
  // How many found no room.
  uint64_t lostSamples() const;

  // All blocks that are alive, sorted by prefix.
  std::vector<std::shared_ptr<BlockBase>> blocks() const;

 private:
  struct Stat {
    std::weak_ptr<BlockBase> block;
    Kind kind;
    size_t index;
  };

  std::shared_ptr<BlockBase> find(const std::string& prefix, const Layout& layout) const;
  void insert(std::shared_ptr<BlockBase> block);
  // Gives a new block what was kept for it.
  void takeKept(BlockBase& block);
  // Calls visit(block, rest) for each living scope that `name` may be of, `rest` being what follows
  // the scope's prefix, until it returns true.
  template <typename Visit>
  void forEachScopeOf(std::string_view name, Visit visit) const;
  // Calls visit(block) for each that is alive, and forgets the others.
  template <typename Visit>
  void forEachBlock(Visit visit);

  const size_t threads_;
  const std::unique_ptr<SampleRing[]> rings_;
  uint32_t next_id_ = 0;
  // By id, where samples are kept.
  std::unordered_map<uint32_t, std::weak_ptr<BlockBase>> sampled_;
  // By prefix, in order, so that readers need not sort: a scope of several layouts has a block for
  // each.
  std::map<std::string, std::vector<std::weak_ptr<BlockBase>>, std::less<>> blocks_;
  // Imported for scopes that do not exist yet, by name, by prefix: counters' amounts, gauges'
  // values.
  using Kept = std::unordered_map<std::string, std::map<std::string, uint64_t, std::less<>>>;
  Kept kept_;
  Kept kept_gauges_;
  std::vector<Stat> stats_;
  std::unordered_map<std::string, StatId> ids_;
  std::vector<BucketRule> bucket_rules_;
  NameTest rejects_;
  std::vector<Label> fixed_labels_;
  std::unique_ptr<TagProducer> tags_;
  BinCounts scratch_;
};

}  // namespace fairlead::stats
