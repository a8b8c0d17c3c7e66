#include "filters/http/decompressor.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "stats/scopes.h"

namespace fairlead::filters {

namespace {

using DecompressorCounter = stats::HttpDecompressor::Counter;
using coding::DecodeError;

// Of trailers. The real server makes them once, of whichever decompressor is the first to have a
// request, for all that there are.
struct TrailerNames {
  static const TrailerNames& of(const DecompressorConfig& config) {
    static const auto* const names =
        new TrailerNames{config.trailerPrefix() + "-compressed-bytes",
                         config.trailerPrefix() + "-uncompressed-bytes"};
    return *names;
  }
  std::string compressed;
  std::string uncompressed;
};

// Of one request.
class Decompressor final : public HttpFilter {
 public:
  Decompressor(const DecompressorConfig& config, FilterMemory& memory, const FilterScope& scope)
      : config_(config), names_(TrailerNames::of(config)), memory_(memory), scope_(scope) {}
  ~Decompressor() override {
    for (Decoding* each : {&request_, &response_}) {
      if (each->decoder) config_.give(scope_.worker, std::move(each->decoder));
    }
  }

  FilterStatus onRequestHead(http::RequestHead& head, const route::RequestView&,
                             bool end) override {
    if (config_.advertises() && config_.response().enabled.value() != 0) {
      advertise(head.headers);
    }
    if (!end) begin(request_, config_.request(), head.headers, memory_.arena());
    return FilterStatus::Continue;
  }
  FilterStatus onRequestData(std::string_view data, bool end) override {
    return decode(request_, config_.request(), data, end);
  }
  FilterStatus onRequestTrailers(http::HeaderMap& trailers) override {
    if (request_.decoder) tellBytes(request_, trailers, memory_.arena());
    return FilterStatus::Continue;
  }

  FilterStatus onResponseHead(uint16_t, http::HeaderMap& headers, bool end, Arena& arena) override {
    if (!end && begin(response_, config_.response(), headers, arena)) {
      scope_.notes.sees_response_body = true;
    }
    return FilterStatus::Continue;
  }
  FilterStatus onResponseData(std::string_view data, bool end) override {
    return decode(response_, config_.response(), data, end);
  }
  FilterStatus onResponseTrailers(http::HeaderMap& trailers) override {
    if (response_.decoder) tellBytes(response_, trailers, memory_.arena());
    return FilterStatus::Continue;
  }

  std::string_view replacement() const override { return made_; }
  bool addTrailers(http::HeaderMap& trailers, Arena& arena) const override {
    tellBytes(*latest_, trailers, arena);
    return true;
  }

 private:
  // Of one message that is decompressed.
  struct Decoding {
    std::unique_ptr<coding::Decoder> decoder;
    uint64_t compressed_bytes = 0;
    uint64_t uncompressed_bytes = 0;
  };

  void count(const DecompressorConfig::Direction& direction, DecompressorCounter counter,
             uint64_t amount = 1) const {
    direction.stats->shard(scope_.worker + 1)->add(counter, amount);
  }

  // Last in the list, once, and whatever was said of it.
  void advertise(http::HeaderMap& headers) {
    const std::string_view name = config_.name();
    http::HeaderEntry* const accepted = headers.find(http::HeaderId::AcceptEncoding);
    if (!accepted || accepted->value().empty()) {
      headers.set(http::HeaderId::AcceptEncoding, name);
      return;
    }
    // The list is no longer than it was, but for the name.
    char* const list = memory_.allocate(accepted->value().size() + 1 + name.size());
    char* end = list;
    const auto add = [&](std::string_view token) {
      if (end != list) *end++ = ',';
      end = std::copy(token.begin(), token.end(), end);
    };
    forEachToken(accepted->value(), [&](std::string_view token) {
      if (token.empty()) return true;
      if (trimmed(token.substr(0, token.find(';'))) != name) add(token);
      return true;
    });
    add(name);
    accepted->setValue({list, static_cast<size_t>(end - list)});
  }

  bool isMeant(const DecompressorConfig::Direction& direction,
               const http::HeaderMap& headers) const {
    if (direction.enabled.value() == 0) return false;
    const http::HeaderEntry* const coding = headers.find(http::HeaderId::ContentEncoding);
    if (!coding) return false;
    const http::HeaderEntry* const control = headers.find(http::HeaderId::CacheControl);
    if (control && !direction.ignores_no_transform &&
        containsToken(control->value(), "no-transform")) {
      return false;
    }
    const std::string_view first = coding->value().substr(0, coding->value().find(','));
    return equalsIgnoreCase(trimmed(first), config_.name());
  }

  bool begin(Decoding& decoding, const DecompressorConfig::Direction& direction,
             http::HeaderMap& headers, Arena& arena) {
    if (isMeant(direction, headers)) decoding.decoder = config_.take(scope_.worker);
    if (!decoding.decoder) {
      count(direction, DecompressorCounter::NotDecompressed);
      return false;
    }
    count(direction, DecompressorCounter::Decompressed);
    config_.countDecoder(scope_.worker);
    headers.remove(http::HeaderId::ContentLength);
    // Codings that are left were there before this one.
    const std::string_view codings = headers.find(http::HeaderId::ContentEncoding)->value();
    const size_t comma = codings.find(',');
    if (comma == std::string_view::npos) {
      headers.remove(http::HeaderId::ContentEncoding);
    } else {
      headers.set(http::HeaderId::ContentEncoding, arena.copy(trimmed(codings.substr(comma + 1))));
    }
    return true;
  }

  FilterStatus decode(Decoding& decoding, const DecompressorConfig::Direction& direction,
                      std::string_view data, bool end) {
    if (!decoding.decoder) return FilterStatus::Continue;
    latest_ = &decoding;
    const coding::Decoded decoded = decoding.decoder->decode(data);
    if (decoded.error != DecodeError::None) config_.countError(scope_.worker, decoded.error);
    made_ = decoded.data;
    decoding.compressed_bytes += data.size();
    decoding.uncompressed_bytes += made_.size();
    count(direction, DecompressorCounter::TotalCompressedBytes, data.size());
    count(direction, DecompressorCounter::TotalUncompressedBytes, made_.size());
    return made_.empty() && !end ? FilterStatus::Take : FilterStatus::Replace;
  }
  void tellBytes(const Decoding& decoding, http::HeaderMap& trailers, Arena& arena) const {
    trailers.add(http::HeaderId::Other, names_.compressed,
                 arena.decimal(decoding.compressed_bytes));
    trailers.add(http::HeaderId::Other, names_.uncompressed,
                 arena.decimal(decoding.uncompressed_bytes));
  }

  const DecompressorConfig& config_;
  const TrailerNames& names_;
  FilterMemory& memory_;
  const FilterScope& scope_;
  Decoding request_;
  Decoding response_;
  const Decoding* latest_ = nullptr;
  std::string_view made_;
};

stats::GzipDecoder::Counter gzipCounterOf(DecodeError error) {
  using Counter = stats::GzipDecoder::Counter;
  switch (error) {
    case DecodeError::Buffer:
      return Counter::ZlibBufError;
    case DecodeError::Memory:
      return Counter::ZlibMemError;
    case DecodeError::Stream:
      return Counter::ZlibStreamError;
    case DecodeError::Version:
      return Counter::ZlibVersionError;
    default:
      return Counter::ZlibDataError;
  }
}

stats::BrotliDecoder::Counter brotliCounterOf(DecodeError error) {
  using Counter = stats::BrotliDecoder::Counter;
  switch (error) {
    case DecodeError::Overflow:
      return Counter::BrotliOutputOverflow;
    case DecodeError::Redundant:
      return Counter::BrotliRedundantInput;
    default:
      return Counter::BrotliError;
  }
}

stats::ZstdDecoder::Counter zstdCounterOf(DecodeError error) {
  using Counter = stats::ZstdDecoder::Counter;
  switch (error) {
    case DecodeError::Memory:
      return Counter::ZstdMemoryError;
    case DecodeError::Dictionary:
      return Counter::ZstdDictionaryError;
    case DecodeError::Checksum:
      return Counter::ZstdChecksumWrongError;
    default:
      return Counter::ZstdGenericError;
  }
}

DecompressorConfig::Direction directionOf(const Boxed<plan::DecompressorDirection>& plan,
                                          const std::string& prefix, const ConfigScope& scope) {
  DecompressorConfig::Direction direction;
  direction.enabled = plan && plan->enabled
                          ? RuntimeNumber(plan->enabled->value, plan->enabled->slot, &scope.slots)
                          : RuntimeNumber(1, 0, nullptr);
  direction.ignores_no_transform = plan && plan->ignores_no_transform;
  direction.stats =
      scope.registry.create<stats::HttpDecompressor>(stats::innerScope(scope.stats, prefix));
  return direction;
}

}  // namespace

BuiltFilter DecompressorConfig::build(const plan::Decompressor& plan, const ConfigScope& scope) {
  if (!plan.decoder) return Error{"a decompressor without a coding"};
  auto config = std::make_shared<DecompressorConfig>();
  auto decoder = coding::DecoderConfig::build(*plan.decoder);
  if (!decoder) return decoder.error();
  config->decoder_ = std::move(decoder.value());
  const auto coding = static_cast<plan::Encoder::Coding>(config->decoder_->coding());
  config->name_ = coding::nameOf(coding);
  config->pools_.resize(scope.workers);
  config->advertises_ = plan.advertises;
  const std::string prefix =
      "decompressor." + plan.library + "." + std::string(coding::statNameOf(coding)) + ".";
  config->request_ = directionOf(plan.request, prefix + "request.", scope);
  config->response_ = directionOf(plan.response, prefix + "response.", scope);
  const stats::Scope errors = stats::innerScope(scope.stats, prefix + "decompressor_library.");
  switch (coding) {
    case plan::Encoder::Coding::Gzip:
      config->gzip_stats_ = scope.registry.create<stats::GzipDecoder>(errors);
      break;
    case plan::Encoder::Coding::Brotli:
      config->brotli_stats_ = scope.registry.create<stats::BrotliDecoder>(errors);
      break;
    case plan::Encoder::Coding::Zstd:
      config->zstd_stats_ = scope.registry.create<stats::ZstdDecoder>(errors);
      break;
  }
  config->trailer_prefix_ = http::ownHeader("decompressor-") + plan.library;
  return std::shared_ptr<const HttpFilterConfig>(std::move(config));
}

HttpFilter* DecompressorConfig::make(FilterMemory& memory, const FilterScope& scope,
                                     FilterPlace&) const {
  return memory.make<Decompressor>(*this, memory, scope);
}

// The numbers of a library are shown once one was used.
void DecompressorConfig::countDecoder(unsigned worker) const {
  if (gzip_stats_) gzip_stats_->shard(worker + 1)->add(gzipCounterOf(DecodeError::Data), 0);
  if (brotli_stats_) brotli_stats_->shard(worker + 1)->add(brotliCounterOf(DecodeError::Data), 0);
  if (zstd_stats_) zstd_stats_->shard(worker + 1)->add(zstdCounterOf(DecodeError::Data), 0);
}

void DecompressorConfig::countError(unsigned worker, DecodeError error) const {
  if (gzip_stats_) gzip_stats_->shard(worker + 1)->add(gzipCounterOf(error));
  if (brotli_stats_) brotli_stats_->shard(worker + 1)->add(brotliCounterOf(error));
  if (zstd_stats_) zstd_stats_->shard(worker + 1)->add(zstdCounterOf(error));
}

}  // namespace fairlead::filters
