// envoy.filters.http.compressor: gives bodies of answers, and of requests, a content coding. Of
// several in a chain the one whose coding the client wants most compresses; each has one coding.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/runtime_slots.h"
#include "coding/encoder.h"
#include "coding/pool.h"
#include "filters/http/http_filter.h"
#include "match/string_matcher.h"
#include "plan/plan.gen.h"
#include "stats/registry.h"

namespace fairlead::filters {

// Encoders of one configuration, with what each worker has at rest.
class Encoders {
 public:
  using Pool = coding::Pool<coding::Encoder, coding::EncoderConfig>;

  static Result<std::unique_ptr<const Encoders>> build(const plan::Encoder& plan, unsigned workers);

  // As Content-Encoding calls it.
  std::string_view name() const { return coding::nameOf(config_->coding()); }
  std::string_view statName() const { return coding::statNameOf(config_->coding()); }
  // Null: there is no memory for one.
  std::unique_ptr<coding::Encoder> take(unsigned worker) const {
    return pools_[worker].take(*config_);
  }
  void give(unsigned worker, std::unique_ptr<coding::Encoder> encoder) const {
    pools_[worker].give(std::move(encoder));
  }

 private:
  std::unique_ptr<const coding::EncoderConfig> config_;
  // Each worker's own.
  mutable std::vector<Pool> pools_;
};

// By route.
class CompressorSettings final : public route::FilterConfig {
 public:
  static Result<std::unique_ptr<const CompressorSettings>> build(
      const plan::CompressorSettings& plan, const RouteScope& scope);
  static const CompressorSettings* of(const route::FilterConfig* config) {
    return config->kind() == &kKind ? static_cast<const CompressorSettings*>(config) : nullptr;
  }
  const void* kind() const override { return &kKind; }

  std::optional<bool> response_enabled;
  std::optional<bool> remove_accept_encoding;
  // Null: the filter's.
  std::unique_ptr<const Encoders> encoders;

 private:
  static constexpr char kKind = 0;
};

class CompressorConfig final : public HttpFilterConfig {
 public:
  // Which messages are compressed one way.
  struct Direction {
    bool is_there = false;
    RuntimeNumber enabled;
    uint64_t min_content_length = 0;
    std::vector<match::StringMatcher> content_types;
    std::shared_ptr<stats::Block<stats::HttpCompressor>> stats;

    bool isEnabled() const { return is_there && enabled.value() != 0; }
    // Of a message without a type, too.
    bool takesType(const http::HeaderMap& headers) const;
  };

  static BuiltFilter build(const plan::Compressor& plan, const ConfigScope& scope);

  HttpFilter* make(FilterMemory& memory, const FilterScope& scope,
                   FilterPlace& place) const override;

  const plan::Compressor& plan() const { return plan_; }
  const Encoders& encoders() const { return *encoders_; }
  const Direction& request() const { return request_; }
  const Direction& response() const { return response_; }
  stats::Shard<stats::HttpCompressorChoice>& choiceStats(unsigned worker) const {
    return *choice_stats_->shard(worker + 1);
  }

 private:
  plan::Compressor plan_;
  std::unique_ptr<const Encoders> encoders_;
  Direction request_;
  Direction response_;
  std::shared_ptr<stats::Block<stats::HttpCompressorChoice>> choice_stats_;
};

}  // namespace fairlead::filters
