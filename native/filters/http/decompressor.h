// envoy.filters.http.decompressor: takes a content coding off the bodies of requests and answers,
// and tells hosts that it may be there.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/runtime_slots.h"
#include "coding/decoder.h"
#include "coding/pool.h"
#include "filters/http/http_filter.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"

namespace fairlead::filters {

class DecompressorConfig final : public HttpFilterConfig {
 public:
  using Pool = coding::Pool<coding::Decoder, coding::DecoderConfig>;

  // Which messages are decompressed one way.
  struct Direction {
    RuntimeNumber enabled;
    bool ignores_no_transform = false;
    std::shared_ptr<stats::Block<stats::HttpDecompressor>> stats;
  };

  static BuiltFilter build(const plan::Decompressor& plan, const ConfigScope& scope);

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

  // As Content-Encoding calls what it takes off.
  std::string_view name() const { return name_; }
  const Direction& request() const { return request_; }
  const Direction& response() const { return response_; }
  bool advertises() const { return advertises_; }
  // Before the names of trailers that say how much it was.
  const std::string& trailerPrefix() const { return trailer_prefix_; }
  // Null: there is no memory for one.
  std::unique_ptr<coding::Decoder> take(unsigned worker) const {
    return pools_[worker].take(*decoder_);
  }
  void give(unsigned worker, std::unique_ptr<coding::Decoder> decoder) const {
    pools_[worker].give(std::move(decoder));
  }
  // That a decoder is at work, and what it found wrong.
  void countDecoder(unsigned worker) const;
  void countError(unsigned worker, coding::DecodeError error) const;

 private:
  std::unique_ptr<const coding::DecoderConfig> decoder_;
  std::string_view name_;
  Direction request_;
  Direction response_;
  bool advertises_ = true;
  std::string trailer_prefix_;
  // One of these.
  std::shared_ptr<stats::Block<stats::GzipDecoder>> gzip_stats_;
  std::shared_ptr<stats::Block<stats::BrotliDecoder>> brotli_stats_;
  std::shared_ptr<stats::Block<stats::ZstdDecoder>> zstd_stats_;
  // Each worker's own.
  mutable std::vector<Pool> pools_;
};

}  // namespace fairlead::filters
