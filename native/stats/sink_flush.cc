#include "stats/sink_flush.h"

#include <algorithm>

#include "stats/pace.h"
#include "stats/query.h"
#include "stats/tagged_name.h"

namespace fairlead::stats {

namespace {

// A statistic's names, each made when the first sink wants it.
class Names {
 public:
  Names(const Registry& registry, const BlockBase& block, std::string_view name, CodeName code)
      : registry_(registry), block_(block), name_(name), code_(code) {}

  SinkName of(const SinkFormat& format) {
    if (!format.wantsTags()) return {full(), {}};
    if (tagged_.empty()) appendTagged(registry_, block_, name_, code_, &labels_, &tagged_);
    return {format.whole_names ? full() : tagged_, labels_};
  }
  const std::string& full() {
    if (full_.empty()) full_.append(block_.scope().prefix).append(name_);
    return full_;
  }

 private:
  const Registry& registry_;
  const BlockBase& block_;
  const std::string_view name_;
  const CodeName code_;
  std::string full_;
  std::string tagged_;
  std::vector<Label> labels_;
};

bool isPercent(std::string_view name) { return name.ends_with("_percent_used"); }

}  // namespace

SinkFlush::SinkFlush(Registry& registry, const std::vector<SinkFormat>& formats, int64_t now_ms)
    : registry_(registry), formats_(formats), now_ms_(now_ms), blocks_(registry.blocksToSend()) {}

bool SinkFlush::next(std::vector<std::string>* out) {
  Pace pace;
  const auto isFull = [&] {
    for (const std::string& piece : *out) {
      if (piece.size() >= Page::kPieceBytes) return true;
    }
    return pace.budget == 0 && !pace.goOn();
  };
  while (!isFull()) {
    if (at_ < blocks_.size()) {
      BlockBase& block = *blocks_[at_++];
      pace.budget -= std::min(pace.budget, block.layout().names(kind_).size() + 1);
      append(block, out);
      continue;
    }
    at_ = 0;
    if (kind_ == Kind::Histogram) return false;
    kind_ = kind_ == Kind::Counter ? Kind::Gauge : Kind::Histogram;
  }
  return true;
}

void SinkFlush::append(BlockBase& block, std::vector<std::string>* out) {
  if (kind_ == Kind::Counter) {
    appendCounters(block, out);
  } else if (kind_ == Kind::Gauge) {
    appendGauges(block, out);
  } else {
    appendHistograms(block, out);
  }
}

void SinkFlush::appendCounters(BlockBase& block, std::vector<std::string>* out) {
  block.latchCounters(&counters_);
  const auto send = [&](Names names, uint64_t value, uint64_t delta) {
    for (size_t i = 0; i < formats_.size(); ++i) {
      appendCounter(formats_[i], names.of(formats_[i]), value, delta, now_ms_, &(*out)[i]);
    }
  };
  for (size_t i = 0; i < counters_.size(); ++i) {
    const auto& [value, delta, used] = counters_[i];
    if (!used || block.isRejected(Kind::Counter, i)) continue;
    send({registry_, block, block.layout().counters[i].name, {}}, value, delta);
  }
  std::string code_name;
  for (const auto& [code, value, delta] : block.latchCodes()) {
    code_name.clear();
    code.appendTo(&code_name);
    Names names(registry_, block, code_name, code);
    if (!registry_.rejects(names.full())) send(std::move(names), value, delta);
  }
}

void SinkFlush::appendGauges(const BlockBase& block, std::vector<std::string>* out) {
  // What a scope that has ended was at is nothing any more.
  if (!block.isHeld()) return;
  block.readGauges(&gauges_);
  for (size_t i = 0; i < gauges_.size(); ++i) {
    if (!gauges_[i].used || block.isRejected(Kind::Gauge, i)) continue;
    Names names(registry_, block, block.layout().gauges[i].name, {});
    for (size_t j = 0; j < formats_.size(); ++j) {
      appendGauge(formats_[j], names.of(formats_[j]), gauges_[i].value, now_ms_, &(*out)[j]);
    }
  }
}

void SinkFlush::appendHistograms(const BlockBase& block, std::vector<std::string>* out) {
  const std::span<const StatName> stats = block.layout().histograms;
  for (size_t i = 0; i < stats.size(); ++i) {
    if (block.total(i).empty() || block.isRejected(Kind::Histogram, i)) continue;
    Names names(registry_, block, stats[i].name, {});
    const std::span<const double> bounds = registry_.bucketBounds(names.full());
    for (size_t j = 0; j < formats_.size(); ++j) {
      if (formats_[j].wantsSamples()) continue;
      const Distribution& values = formats_[j].totals ? block.total(i) : block.interval(i);
      appendHistogram(formats_[j], names.of(formats_[j]), values, bounds, now_ms_, &(*out)[j]);
    }
  }
}

bool takeSamples(Registry* registry, const std::vector<SinkFormat>& formats, size_t limit,
                 std::vector<std::string>* out) {
  return registry->takeSamples(
      limit, [&](const BlockBase& block, size_t histogram, uint64_t value) {
        if (block.isRejected(Kind::Histogram, histogram)) return;
        const std::string_view name = block.layout().histograms[histogram].name;
        Names names(*registry, block, name, {});
        for (size_t i = 0; i < formats.size(); ++i) {
          if (!formats[i].wantsSamples()) continue;
          appendSample(formats[i], names.of(formats[i]), value, isPercent(name), &(*out)[i]);
        }
      });
}

}  // namespace fairlead::stats
