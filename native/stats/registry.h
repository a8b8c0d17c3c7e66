// Every scope there is. The control thread's; blocks are shared with the workers that write to
// them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "stats/block.h"
#include "stats/ended_scopes.h"
#include "stats/kept_scopes.h"
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

  // The block of a scope: the one that exists, or a new one. The scope ends when nobody holds what
  // this returned any more, on whatever thread: names, numbers and memory are given back then, and
  // a later one of its name begins at 0. One that is unseen is a new one each time.
  template <typename L>
  std::shared_ptr<Block<L>> create(const Scope& scope) {
    std::shared_ptr<BlockBase> block = existing(scope, L::kLayout);
    // By its base: what holds and counts it is compiled once then, not for each layout.
    if (!block) block = adopt(std::make_unique<Block<L>>(scope, threads_, samplesOf(scope)));
    return std::static_pointer_cast<Block<L>>(std::move(block));
  }
  // A new block of the scope, also where one exists: what that one counts still shows in the new
  // one as well, and goes on there when nobody holds it any more, but for what is made as it is
  // first counted and has not been counted anew.
  template <typename L>
  std::shared_ptr<Block<L>> renew(const Scope& scope) {
    const std::shared_ptr<BlockBase> before = existing(scope, L::kLayout);
    auto made = std::make_unique<Block<L>>(scope, threads_, samplesOf(scope));
    std::shared_ptr<BlockBase> block =
        before ? putInPlaceOf(*before, std::move(made)) : adopt(std::move(made));
    return std::static_pointer_cast<Block<L>>(std::move(block));
  }
  // Takes out the scopes that have ended; asked now and then.
  void sweep();
  // There are sinks: they are sent what a scope counted between the latest flush and its end.
  void keepEnded() { keeps_ended_ = true; }
  // For one flush: all scopes, and those that have ended since the previous.
  std::vector<std::shared_ptr<BlockBase>> blocksToSend();

  // A statistic as a number, which holds nothing: what is written after the end of the scope is
  // lost. The number is not given to another then.
  using StatId = uint64_t;
  std::optional<StatId> idOf(std::string_view name);
  // Whether a full name is one of a scope that has not ended.
  bool hasScopeOf(std::string_view name) const;
  // Whether the number was ever given, and whether its scope has not ended since.
  bool isGiven(StatId id) const;
  bool isAlive(StatId id) const { return statOf(id) != nullptr; }
  Kind kindOf(StatId id) const { return statOf(id)->kind; }
  // Each for its kind only. To add 0 to a counter marks it used. False: the scope has ended.
  bool add(StatId counter, uint64_t amount);
  bool set(StatId gauge, uint64_t value);
  bool record(StatId histogram, uint64_t value);
  bool setText(StatId text, std::string value);

  // The same by full names, of what is written too rarely to be given a number. False: there is no
  // such statistic.
  bool addTo(std::string_view counter, uint64_t amount);
  bool setTo(std::string_view gauge, uint64_t value);
  bool recordIn(std::string_view histogram, uint64_t value);
  bool setTextOf(std::string_view text, std::string value);

  // The sum over all threads of a counter or gauge by its full name, counts by status among them.
  std::optional<uint64_t> value(std::string_view name) const;

  // ---- what an earlier process counted; of scopes that are not here see kept_scopes.h ----
  void importCounter(const Scope& scope, std::string_view name, uint64_t amount, bool has_ended);
  // Sets that process's part of a gauge.
  void importGauge(const Scope& scope, std::string_view name, ImportedLevel level);
  // The earlier process has ended: its gauges are gone, and its scopes.
  void endImports();
  // Sinks have what was imported up to now.
  void markImportedSent();
  const KeptScopes& kept() const { return kept_; }

  // What was recorded since the previous call becomes the interval.
  void flushHistograms();
  // Counters read 0 from here on.
  void resetCounters();

  // The first that matches counts; without one the bounds are kBucketBounds.
  void setBucketRules(std::vector<BucketRule> rules) { bucket_rules_ = std::move(rules); }
  std::span<const double> bucketBounds(std::string_view histogram) const;

  // Full names that are never shown nor sent; empty: none is rejected.
  void setRejection(NameTest rejects);
  // The same of names that begin with this prefix, beside what is rejected of all; empty: no more
  // than that. Of scopes that come later.
  void setRejection(const std::string& prefix, NameTest rejects);
  // deferred_stat_options: see Block::deferTraffic(). Of scopes that come later.
  void deferTraffic() { defers_traffic_ = true; }
  // What workers bring with them is not shown between the two: see Block::awaitWorkers().
  void awaitWorkers() { do_workers_run_ = false; }
  void startWorkers() { do_workers_run_ = true; }
  bool rejects(std::string_view name) const { return rejects_ && rejects_(name); }
  // Labels that every series has.
  void setFixedLabels(std::vector<Label> labels) { fixed_labels_ = std::move(labels); }
  const std::vector<Label>& fixedLabels() const { return fixed_labels_; }
  // Where labels are not those of the scopes; null: they are.
  void setTagProducer(std::unique_ptr<TagProducer> producer) { tags_ = std::move(producer); }
  const TagProducer* tagProducer() const { return tags_.get(); }

  // Calls visit(block, histogram, value) for single values that were recorded since the last call,
  // up to `limit` of each thread; of a scope that ended until the flush after its last. False: none
  // is left.
  bool takeSamples(size_t limit,
                   const std::function<void(const BlockBase&, size_t, uint64_t)>& visit);
  // How many found no room.
  uint64_t lostSamples() const;

  // All scopes that have not ended, sorted by prefix; of a `may_begin` only those whose prefix
  // passes it, which must hold: where a text does not pass, none that begins with it does.
  std::vector<std::shared_ptr<BlockBase>> blocks(const NameTest& may_begin = {}) const;

  // The same as readers see them: with those that only an earlier process has.
  std::vector<std::shared_ptr<BlockBase>> shownBlocks(const NameTest& may_begin = {}) const;

  // Those of single hosts, which are shown behind all others, in this order: they are no part of
  // what is rejected, reset, imported or tagged by rules. Each time that somebody is about to read.
  void setEndpoints(std::vector<std::shared_ptr<BlockBase>> endpoints) {
    endpoints_ = std::move(endpoints);
  }
  const std::vector<std::shared_ptr<BlockBase>>& endpoints() const { return endpoints_; }

 private:
  // A place for a statistic that has a number. The number is the place's, and which use of it.
  struct Stat {
    // Null: free.
    BlockBase* block = nullptr;
    Kind kind = Kind::Counter;
    size_t index = 0;
    uint32_t use = 0;
  };
  struct ByPrefix {
    using is_transparent = void;
    static std::string_view prefixOf(const std::shared_ptr<BlockBase>& block) {
      return block->scope().prefix;
    }
    static std::string_view prefixOf(std::string_view prefix) { return prefix; }
    template <typename A, typename B>
    bool operator()(const A& a, const B& b) const {
      return prefixOf(a) < prefixOf(b);
    }
  };

  void combineRejections();
  bool isRejectedByScope(std::string_view name) const;
  // Null: a new one is to be made.
  std::shared_ptr<BlockBase> existing(const Scope& scope, const Layout& layout);
  // For a new block of the scope.
  BlockSamples samplesOf(const Scope& scope);
  // What holds a new one.
  std::shared_ptr<BlockBase> adopt(std::unique_ptr<BlockBase> block);
  std::shared_ptr<BlockBase> putInPlaceOf(BlockBase& before, std::unique_ptr<BlockBase> made);
  // Held from here on, by its name and number.
  std::shared_ptr<BlockBase> prepare(const std::shared_ptr<BlockBase>& block);
  // Null: it is in nobody's place.
  std::shared_ptr<BlockBase> takeOut(const BlockBase& block);
  // A block has ended that is held by no page: one that others have succeeded.
  void endFormer(BlockBase& ended);
  void moveIds(const BlockBase& from, BlockBase& to);
  // What a holder has; null: there is no such scope, or it has ended.
  std::shared_ptr<BlockBase> find(std::string_view prefix, const Layout& layout) const;
  void insert(std::shared_ptr<BlockBase> block);
  void giveBackIds(const BlockBase& block);
  // Null: the number is of a scope that has ended.
  const Stat* statOf(StatId id) const;
  const Stat* statOf(StatId id, Kind kind) const;
  // A statistic by its full name; its place is not one of stats_.
  std::optional<Stat> findStat(std::string_view name) const;
  // Likewise, of that kind.
  std::optional<Stat> findStat(std::string_view name, Kind kind) const;
  // False: there is no such statistic.
  template <typename Value>
  bool importIntoOwn(std::string_view prefix, std::string_view name, Value value);
  using Blocks = std::multiset<std::shared_ptr<BlockBase>, ByPrefix>;
  // The first of exactly this prefix, which others of it follow; the end: there is none.
  Blocks::const_iterator firstOf(std::string_view prefix) const;
  bool isOf(Blocks::const_iterator block, std::string_view prefix) const {
    return block != blocks_.end() && ByPrefix::prefixOf(*block) == prefix;
  }
  // Calls visit(block, rest) for each living scope that `name` may be of, `rest` being what follows
  // the scope's prefix, until it returns true.
  template <typename Visit>
  void forEachScopeOf(std::string_view name, Visit visit) const;
  // Calls visit(block) for each scope that has not ended.
  template <typename Visit>
  void forEachBlock(Visit visit) const;

  const size_t threads_;
  const std::unique_ptr<SampleRing[]> rings_;
  uint32_t next_id_ = 0;
  // By id, where samples are kept.
  std::unordered_map<uint32_t, BlockBase*> sampled_;
  // In order, so that readers need not sort: a scope of several layouts has a block for each. Those
  // that have ended among them, until the next sweep.
  Blocks blocks_;
  // Which firstOf() found last: an update writes to one scope many times in a row, among thousands.
  mutable Blocks::const_iterator recent_ = blocks_.end();
  const std::shared_ptr<EndedScopes> ended_ = std::make_shared<EndedScopes>();
  std::vector<std::shared_ptr<BlockBase>> endpoints_;
  bool keeps_ended_ = false;
  // Not sent yet since they ended.
  EndedScopes::Blocks unsent_;
  // Sent by the latest flush. Single values of theirs may still be on their way.
  EndedScopes::Blocks sent_;
  KeptScopes kept_;
  // Statistics that have numbers, by place; which places are free; places by name and by block.
  std::vector<Stat> stats_;
  std::vector<uint32_t> free_stats_;
  std::unordered_map<std::string, uint32_t> places_;
  std::unordered_map<const BlockBase*, std::vector<uint32_t>> places_of_;
  std::vector<BucketRule> bucket_rules_;
  // All of it, of these two.
  NameTest rejects_;
  NameTest rejects_of_all_;
  bool do_workers_run_ = true;
  std::map<std::string, NameTest, std::less<>> rejects_of_scopes_;
  bool defers_traffic_ = false;
  std::vector<Label> fixed_labels_;
  std::unique_ptr<TagProducer> tags_;
  BinCounts scratch_;
};

}  // namespace fairlead::stats
