// What an earlier process has counted in scopes that this one does not have. They are shown and
// sent for it as long as it is there; then their counters wait, in case such a scope comes. The
// control thread's.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stats/block.h"

namespace fairlead::stats {

// An earlier process's part of a gauge.
struct ImportedLevel {
  uint64_t value = 0;
  // It tells of that process alone: it is not added to what this one has.
  bool is_of_process = false;
};

// False: the block has no such counter, no such gauge.
bool importInto(BlockBase& block, std::string_view name, uint64_t amount);
bool importInto(BlockBase& block, std::string_view name, ImportedLevel level);

class KeptScopes {
 public:
  using Blocks = std::vector<std::shared_ptr<BlockBase>>;
  struct Counter {
    uint64_t amount = 0;
    // Of it, what sinks have not been sent.
    uint64_t unsent = 0;
    // Whoever counted it has ended: it only waits.
    bool has_ended = true;

    // After a reset more may be unsent than there is: both are sums that may run over.
    uint64_t sent() const { return amount - unsent; }
  };

  // `has_ended`: the process that counted it had ended before the one that tells of it.
  void add(const Scope& scope, std::string_view name, uint64_t amount, bool has_ended);
  void set(const Scope& scope, std::string_view name, ImportedLevel level);
  // Gives a new block what is its.
  void giveTo(BlockBase& block);
  // The process that tells of them has ended.
  void end();
  void markSent();
  // Counters read 0 from here on.
  void reset();

  // What readers see, sorted by prefix; of a `may_begin` as Registry::blocks() has it. The blocks
  // do not change with what comes later.
  Blocks blocks(const NameTest& rejects, const NameTest& may_begin) const;
  // The same for one flush of sinks: with what is unsent of a process that has ended.
  Blocks blocksToSend(const NameTest& rejects);
  // Calls visit(scope, name, counter) for each counter.
  template <typename Visit>
  void forEachCounter(Visit visit) const {
    for (const auto& [prefix, kept] : scopes_) {
      for (const auto& [name, counter] : kept.counters) visit(kept.scope, name, counter);
    }
  }
  // Calls visit(scope, name, level) for each gauge.
  template <typename Visit>
  void forEachGauge(Visit visit) const {
    for (const auto& [prefix, kept] : scopes_) {
      for (const auto& [name, level] : kept.gauges) visit(kept.scope, name, level);
    }
  }

 private:
  struct Kept {
    Scope scope;
    std::map<std::string, Counter, std::less<>> counters;
    std::map<std::string, ImportedLevel, std::less<>> gauges;
  };

  enum class Reader { Pages, Sinks };

  // Null: there is nothing for that reader.
  static std::shared_ptr<BlockBase> blockOf(const Kept& kept, const NameTest& rejects,
                                            Reader reader);
  Blocks blocksFor(Reader reader, const NameTest& rejects, const NameTest& may_begin) const;

  // By prefix.
  std::map<std::string, Kept, std::less<>> scopes_;
};

}  // namespace fairlead::stats
