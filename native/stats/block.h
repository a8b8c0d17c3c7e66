// All numbers of one scope ("cluster.backend."): its shards, one per thread, and what the reader
// remembers. Names are never stored: layout and prefix make them when someone reads.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "stats/shard.h"

namespace fairlead::stats {

// Where a scope's names live, and what Prometheus calls them.
struct Scope {
  // "cluster.backend.": before every name.
  std::string prefix;
  // "cluster.": the same without what became labels.
  std::string metric_prefix;
  std::vector<std::pair<std::string, std::string>> labels;
};

enum class Kind : uint8_t { Counter, Gauge, Histogram };

// The reader's side: the control thread's only, but for what shards publish.
class BlockBase {
 public:
  explicit BlockBase(Scope scope) : scope_(std::move(scope)) {}
  virtual ~BlockBase() = default;

  const Scope& scope() const { return scope_; }
  virtual std::span<const StatName> names(Kind kind) const = 0;

  // Sums over all shards. `used`: anything was ever written.
  uint64_t counter(size_t index, bool* used = nullptr) const;
  uint64_t gauge(size_t index, bool* used = nullptr) const;
  // Null: nothing was recorded before the latest flush.
  const Distribution* interval(size_t histogram) const;
  const Distribution* total(size_t histogram) const;
  bool isHistogramUsed(size_t histogram) const;

  // Counts by status, each under its name ("external.upstream_rq_200"), sorted.
  struct Code {
    std::string name;
    uint64_t value;
  };
  std::vector<Code> codes() const;

  void flushHistograms();
  // Counters read 0 from here on.
  void resetCounters();

  // The control thread's own shard.
  virtual void addOwn(size_t counter, uint64_t amount) = 0;
  virtual void setOwn(size_t gauge, uint64_t value) = 0;
  virtual void recordOwn(size_t histogram, uint64_t value) = 0;

 protected:
  virtual size_t shardCount() const = 0;
  virtual std::optional<ShardView> view(size_t shard) const = 0;

 private:
  struct Merged {
    std::vector<uint64_t> counts;
    Distribution interval;
    Distribution total;
  };

  uint64_t rawCounter(size_t index) const;
  std::map<std::string, uint64_t> rawCodes() const;

  const Scope scope_;
  std::vector<uint64_t> counter_baseline_;
  std::map<std::string, uint64_t> code_baseline_;
  std::vector<std::unique_ptr<Merged>> histograms_;
};

template <typename Layout>
class Block final : public BlockBase {
 public:
  // `threads`: the control thread, all workers, the log flusher.
  Block(Scope scope, size_t threads)
      : BlockBase(std::move(scope)),
        shards_(std::make_unique<std::atomic<Shard<Layout>*>[]>(threads)),
        threads_(threads) {}
  ~Block() override {
    for (size_t i = 0; i < threads_; ++i) delete shards_[i].load();
  }

  // The shard of a thread: 0 is the control thread, i + 1 worker i. Made when first asked for, by
  // that thread; lives as long as the block.
  Shard<Layout>* shard(size_t thread) {
    Shard<Layout>* shard = shards_[thread].load(std::memory_order_acquire);
    if (shard) return shard;
    shard = new Shard<Layout>;
    shards_[thread].store(shard, std::memory_order_release);
    return shard;
  }

  std::span<const StatName> names(Kind kind) const override {
    switch (kind) {
      case Kind::Counter:
        return Layout::kCounters;
      case Kind::Gauge:
        return Layout::kGauges;
      case Kind::Histogram:
        return Layout::kHistograms;
    }
    return {};
  }
  void addOwn(size_t counter, uint64_t amount) override { shard(0)->addAt(counter, amount); }
  void setOwn(size_t gauge, uint64_t value) override { shard(0)->setAt(gauge, value); }
  void recordOwn(size_t histogram, uint64_t value) override {
    shard(0)->recordAt(histogram, value);
  }

 private:
  size_t shardCount() const override { return threads_; }
  std::optional<ShardView> view(size_t index) const override {
    const Shard<Layout>* shard = shards_[index].load(std::memory_order_acquire);
    return shard ? std::optional(shard->view()) : std::nullopt;
  }

  const std::unique_ptr<std::atomic<Shard<Layout>*>[]> shards_;
  const size_t threads_;
};

}  // namespace fairlead::stats
