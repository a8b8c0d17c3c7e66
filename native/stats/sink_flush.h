// All that sinks are sent at a flush, piece by piece: counters, then gauges, then histograms, of
// what was ever used. The control thread's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "stats/registry.h"
#include "stats/sink_format.h"

namespace fairlead::stats {

class SinkFlush {
 public:
  // `formats` must outlive it, as must the registry.
  SinkFlush(Registry& registry, const std::vector<SinkFormat>& formats, int64_t now_ms);

  // Appends each sink's next piece to its place in `out`. False: that was the last.
  bool next(std::vector<std::string>* out);

 private:
  void append(BlockBase& block, std::vector<std::string>* out);
  void appendCounters(BlockBase& block, std::vector<std::string>* out);
  void appendGauges(const BlockBase& block, std::vector<std::string>* out);
  void appendHistograms(const BlockBase& block, std::vector<std::string>* out);

  const Registry& registry_;
  const std::vector<SinkFormat>& formats_;
  const int64_t now_ms_;
  const std::vector<std::shared_ptr<BlockBase>> blocks_;
  Kind kind_ = Kind::Counter;
  // The next block of the kind.
  size_t at_ = 0;
  std::vector<BlockBase::Latched> counters_;
  std::vector<Reading> gauges_;
};

// Appends what histograms recorded singly since the last call, up to `limit` values of each thread.
// False: none is left.
bool takeSamples(Registry* registry, const std::vector<SinkFormat>& formats, size_t limit,
                 std::vector<std::string>* out);

}  // namespace fairlead::stats
