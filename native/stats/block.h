// All numbers of one scope ("cluster.backend."): its shards, one per thread, and what the reader
// remembers. Names are never stored: layout and prefix make them when someone reads.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.h"
#include "stats/distribution.h"
#include "stats/shard.h"
#include "stats/sparse_counts.h"

namespace fairlead::stats {

using Label = std::pair<std::string, std::string>;
// Asks something of a full name.
using NameTest = std::function<bool(std::string_view)>;

// Where a scope's names live, and what Prometheus calls them.
struct Scope {
  // "cluster.backend.": before every name.
  std::string prefix;
  // "cluster.": the same without what became labels.
  std::string metric_prefix;
  // In the order in which they are shown: before the fixed ones, and after.
  std::vector<Label> first_labels;
  std::vector<Label> labels;
  // No page shows it, and nobody is sent it.
  bool is_unseen = false;
};

// A sum over all shards.
struct Reading {
  uint64_t value;
  // Anything was ever written, even nothing: a counter by 0, a gauge to 0.
  bool used;
  // Of a gauge: an earlier process has told of it.
  bool is_imported = false;
};

// Where single values of a scope's histograms go.
struct BlockSamples {
  // One for each thread, which must outlive the block; null: nobody wants them.
  SampleRing* rings = nullptr;
  // What they call the block.
  uint32_t id = 0;
};

// The reader's side. The control thread's only, but for what shards publish.
class BlockBase {
 public:
  // `id`: in the samples of its histograms.
  BlockBase(const Layout& layout, Scope scope, uint32_t id)
      : layout_(layout), scope_(std::move(scope)), id_(id) {}
  virtual ~BlockBase() = default;
  BlockBase(const BlockBase&) = delete;
  BlockBase& operator=(const BlockBase&) = delete;

  const Layout& layout() const { return layout_; }
  const Scope& scope() const { return scope_; }
  uint32_t id() const { return id_; }

  // What those who write to the block share; the registry's own reference is none of them. When the
  // last goes, so does the scope, but for what sinks have not been sent yet.
  void setHolders(const std::shared_ptr<BlockBase>& holders) { holders_ = holders; }
  std::shared_ptr<BlockBase> hold() const { return holders_.lock(); }
  bool isHeld() const { return !holders_.expired(); }

  Reading counter(size_t index) const;
  Reading gauge(size_t index) const;
  // All of them, by index.
  void readCounters(std::vector<Reading>* readings) const;
  void readGauges(std::vector<Reading>* readings) const;
  // What was recorded between the latest two flushes, and before the latest. Until the next flush.
  const Distribution& interval(size_t histogram) const;
  const Distribution& total(size_t histogram) const;
  // The same, left as they are by any later flush. Null: nothing was recorded.
  std::shared_ptr<const Distribution> heldInterval(size_t histogram) const;
  std::shared_ptr<const Distribution> heldTotal(size_t histogram) const;
  // Something was recorded, flushed or not.
  bool isRecorded(size_t histogram) const;
  // Whether readers are to see the scope at all.
  bool isShown() const { return !is_hidden_ && (!layout_.is_late || isWritten()); }
  // From hide() to show() no page has it, and nobody is sent it.
  void hide() { is_hidden_ = true; }
  void show() { is_hidden_ = false; }
  // What is shown once another counter was used is shown from here on. Any thread.
  void showCompanions() { shows_companions_.store(true, std::memory_order_relaxed); }
  // Whether it is shown beside that counter, which was used or not.
  bool showsCompanionsOf(size_t counter, bool is_used) const;
  // Empty until it is set.
  const std::string& text(size_t index) const;
  bool isTextSet(size_t index) const;

  // Counts by status, sorted by name.
  struct Code {
    CodeName name;
    uint64_t value;
    // Counted, though maybe reset since; not only shown.
    bool used = false;
  };
  // `only`: no others.
  std::vector<Code> codes(std::optional<CodeVariant> only = std::nullopt) const;
  // These are shown from here on, counted or not.
  void showCodes(std::span<const CodeName> names);

  // For sinks: counters with what was added since the previous call.
  struct Latched {
    uint64_t value;
    uint64_t delta;
    bool used;
  };
  void latchCounters(std::vector<Latched>* counters);
  struct LatchedCode {
    CodeName name;
    uint64_t value;
    uint64_t delta;
  };
  // Those that are used.
  std::vector<LatchedCode> latchCodes();

  // Whether the configuration wants the statistic neither shown nor sent. `test` must outlive the
  // block; it is asked once for each name, when first wanted.
  void setRejection(const NameTest* test) { rejects_ = test; }
  bool isRejected(Kind kind, size_t index) const {
    return (*rejects_ && rejectedNames(kind)[index]) ||
           (defers_traffic_ && isDeferred(kind, index)) ||
           (!*do_workers_run_ && isOfWorkers(kind, index));
  }
  // What a cluster counts of its traffic is neither shown nor sent before there was any.
  void deferTraffic() { defers_traffic_ = true; }
  // What workers bring with them is neither shown nor sent as long as none runs. `do_workers_run`
  // must outlive the block.
  void awaitWorkers(const bool* do_workers_run) { do_workers_run_ = do_workers_run; }

  // ---- what an earlier process counted; see hot_restart/stats_transfer.h ----
  void addImported(size_t counter, uint64_t amount);
  // `name`: one that CodeName::parseCounted() knows.
  void addImportedCode(CodeName name, uint64_t amount);
  // Another process's part of a gauge: it is added to the own one.
  void setImported(size_t gauge, uint64_t value);
  void dropImportedGauges() {
    if (memory_) memory_->imported_gauges.clear();
  }
  // Sinks have what was imported up to now from the process that counted it. Called before anything
  // is counted here.
  void markImportedSent();

  // ---- a scope that begins anew while one of its name is held; see block_lives.cc ----
  // In the place of `before`, which goes on counting: that shows here, too. The control thread's
  // own numbers are those of both.
  void succeed(std::shared_ptr<BlockBase> before);
  // One that was succeeded has ended, and shows here no more. False: it is none of these.
  bool dropFormer(const BlockBase& ended);
  // This has ended before one that it succeeded, which shows what it did. Null: there is none.
  std::shared_ptr<BlockBase> handBack();
  // Of what one has counted that has ended: what every scope of its name has goes on here, what is
  // made as it is first counted only where it was counted here, too. All else stays there.
  void inherit(BlockBase& ended);

  // `scratch` spares an allocation per histogram.
  void flushHistograms(BinCounts* scratch);
  // Counters read 0 from here on.
  void resetCounters();

  // The control thread's own shard; texts have no other.
  void addOwn(size_t counter, uint64_t amount);
  virtual void setOwn(size_t gauge, uint64_t value) = 0;
  virtual void recordOwn(size_t histogram, uint64_t value) = 0;
  void setText(size_t text, std::string value);

 protected:
  // Sums over the block's own shards alone. Any thread.
  uint64_t ownSumOf(Place place) const;
  // The control thread's is the first; the last has what was inherited.
  virtual size_t shardCount() const = 0;
  virtual std::optional<ShardView> view(size_t shard) const = 0;
  virtual void addToOwnShard(size_t counter, uint64_t amount) = 0;
  virtual void shareOwnShard(BlockBase& before) = 0;
  virtual Slot* inheritedSlots(Place place) = 0;
  virtual HistogramCells& inheritedCells(size_t histogram) = 0;
  virtual CodeCounts& inheritedCodes() = 0;

 private:
  struct Flushed {
    uint64_t recorded = 0;
    // Null: nothing was recorded.
    std::shared_ptr<const Distribution> interval;
    std::shared_ptr<const Distribution> total;
  };

  // What the reader remembers of the block.
  struct Memory {
    SparseCounts imported_counters;
    SparseCounts imported_gauges;
    std::vector<Code> imported_codes;
    // At the latest reset.
    SparseCounts counter_baseline;
    std::vector<Code> code_baseline;
    std::vector<CodeName> shown_codes;
    // As the sinks have seen them.
    SparseCounts sent_counters;
    std::vector<Code> sent_codes;
    // Counters to which nothing was added, on purpose: they are used all the same.
    std::vector<bool> touched;
    std::vector<std::optional<std::string>> texts;
    std::vector<std::unique_ptr<Flushed>> histograms;
    // By kind.
    std::vector<bool> rejected[4];
  };

  // Calls visit(shard) for all that show here.
  template <typename Visit>
  void forEachShard(Visit visit) const {
    for (size_t i = 0; i < shardCount(); ++i) {
      if (const auto shard = view(i)) visit(*shard);
    }
    for (const auto& former : formers_) former->forEachShardBeyondFirst(visit);
  }
  template <typename Visit>
  void forEachShardBeyondFirst(Visit visit) const {
    for (size_t i = 1; i < shardCount(); ++i) {
      if (const auto shard = view(i)) visit(*shard);
    }
  }
  uint64_t sumOf(Place place) const;
  bool hasCode(uint16_t status, CodeVariant variant) const;
  void inheritCounters(BlockBase& ended);
  void inheritGauges(BlockBase& ended);
  void inheritCodes(BlockBase& ended);
  void inheritHistograms(BlockBase& ended);
  bool isWritten() const;
  bool isDeferred(Kind kind, size_t index) const;
  bool isOfWorkers(Kind kind, size_t index) const;
  void sumCounters(std::vector<uint64_t>* sums) const;
  uint64_t rawCounter(size_t index) const;
  Reading ownGauge(size_t gauge) const;
  // Null until its first flush.
  const Flushed* flushed(size_t histogram) const;
  uint64_t recorded(size_t histogram) const;
  std::vector<Code> rawCodes(std::optional<CodeVariant> only = std::nullopt) const;
  const std::vector<bool>& rejectedNames(Kind kind) const;
  bool isTouched(size_t counter) const {
    return counter < memory().touched.size() && memory().touched[counter];
  }
  const Memory& memory() const { return memory_ ? *memory_ : kNoMemory; }
  Memory& remember() const {
    if (!memory_) memory_ = std::make_unique<Memory>();
    return *memory_;
  }

  static const Memory kNoMemory;
  const Layout& layout_;
  const Scope scope_;
  std::weak_ptr<BlockBase> holders_;
  // Those that were succeeded and are held still, the latest first.
  std::vector<std::shared_ptr<BlockBase>> formers_;
  // Null for the many of which there is nothing to remember.
  mutable std::unique_ptr<Memory> memory_;
  const NameTest* rejects_ = &kRejectsNothing;
  bool defers_traffic_ = false;
  bool is_hidden_ = false;
  const bool* do_workers_run_ = &kTheyRun;
  std::atomic<bool> shows_companions_ = false;
  const uint32_t id_;
  inline static const NameTest kRejectsNothing;
  inline static const bool kTheyRun = true;
};

template <typename L>
class Block final : public BlockBase {
 public:
  // `threads`: the control thread, all workers, the log flusher.
  Block(Scope scope, size_t threads, BlockSamples samples = {})
      : BlockBase(L::kLayout, std::move(scope), samples.id),
        shards_(std::make_unique<std::atomic<Shard<L>*>[]>(threads + 1)),
        threads_(threads),
        rings_(samples.rings) {}
  ~Block() override {
    for (size_t i = 1; i <= threads_; ++i) delete shards_[i].load();
  }

  // The shard of a thread: 0 is the control thread, i + 1 worker i. Made when first asked for, by
  // that thread; lives as long as the block.
  Shard<L>* shard(size_t thread) {
    FL_DCHECK(thread < threads_);
    Shard<L>* const shard = shards_[thread].load(std::memory_order_acquire);
    return shard ? shard : makeShard(thread);
  }

  // An answer that the control thread has had: beside its shard, which blocks that succeed each
  // other share, as such counts go on only where they are counted anew.
  void countOwnResponse(CodeVariant variant, uint16_t status) {
    inherited().countResponse(variant, status);
  }

  // What this process has counted. Any thread.
  uint64_t counted(typename L::Counter counter) const {
    return this->ownSumOf(L::kCounterPlaces[static_cast<size_t>(counter)]);
  }

  void setOwn(size_t gauge, uint64_t value) override { shard(0)->setAt(gauge, value); }
  void recordOwn(size_t histogram, uint64_t value) override {
    shard(0)->recordAt(histogram, value);
  }

 private:
  [[gnu::noinline, gnu::cold]] Shard<L>* makeShard(size_t thread) {
    const bool has_samples = rings_ && thread < threads_;
    const auto target = has_samples ? SampleTarget{&rings_[thread], id()} : SampleTarget();
    if (thread == 0) first_ = std::make_shared<Shard<L>>(target);
    Shard<L>* const shard = thread == 0 ? first_.get() : new Shard<L>(target);
    shards_[thread].store(shard, std::memory_order_release);
    return shard;
  }
  size_t shardCount() const override { return threads_ + 1; }
  std::optional<ShardView> view(size_t index) const override {
    const Shard<L>* shard = shards_[index].load(std::memory_order_acquire);
    return shard ? std::optional(shard->view()) : std::nullopt;
  }
  void addToOwnShard(size_t counter, uint64_t amount) override { shard(0)->addAt(counter, amount); }
  void shareOwnShard(BlockBase& before) override {
    auto& other = static_cast<Block&>(before);
    other.shard(0);
    first_ = other.first_;
    shards_[0].store(first_.get(), std::memory_order_release);
  }
  Shard<L>& inherited() {
    Shard<L>* const shard = shards_[threads_].load(std::memory_order_relaxed);
    return shard ? *shard : *makeShard(threads_);
  }
  Slot* inheritedSlots(Place place) override { return inherited().slotsOf(place); }
  HistogramCells& inheritedCells(size_t histogram) override {
    return inherited().cellsAt(histogram);
  }
  CodeCounts& inheritedCodes() override { return inherited().codeCounts(); }

  // By thread; behind them what was inherited, and the control thread's answers.
  const std::unique_ptr<std::atomic<Shard<L>*>[]> shards_;
  // The control thread's, of all blocks that succeed each other. Null until it is needed.
  std::shared_ptr<Shard<L>> first_;
  const size_t threads_;
  SampleRing* const rings_;
};

}  // namespace fairlead::stats
