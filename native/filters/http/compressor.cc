#include "filters/http/compressor.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "filters/http/accept_encoding.h"
#include "filters/http/kept_trailers.h"
#include "stats/scopes.h"

namespace fairlead::filters {

using CompressorCounter = stats::HttpCompressor::Counter;
using ChoiceCounter = stats::HttpCompressorChoice::Counter;

namespace {

constexpr std::string_view kCompressedStatus = "Compressed";

std::string_view textOf(const http::HeaderMap& headers, http::HeaderId id) {
  const http::HeaderEntry* const entry = headers.find(id);
  return entry ? entry->value() : std::string_view();
}

// A content type without its parameters.
std::string_view mediaTypeOf(const http::HeaderMap& headers) {
  const std::string_view type = textOf(headers, http::HeaderId::ContentType);
  return trimmed(type.substr(0, type.find(';')));
}

bool isUpgrade(const http::HeaderMap& headers) {
  return headers.find(http::HeaderId::Upgrade) &&
         containsToken(textOf(headers, http::HeaderId::Connection), "upgrade");
}

// As it is spelled.
bool hasToken(std::string_view list, std::string_view token) {
  bool found = false;
  forEachToken(list, [&](std::string_view element) {
    found = element == token;
    return !found;
  });
  return found;
}

bool isWeak(std::string_view etag) {
  return etag.size() >= 2 && lowerAscii(etag[0]) == 'w' && etag[1] == '/';
}

}  // namespace

// Of one request, in a list of all its chain has.
class Compressor final : public HttpFilter {
 public:
  Compressor(const CompressorConfig& config, const CompressorSettings* settings,
             FilterMemory& memory, const FilterScope& scope, FilterPlace& place)
      : config_(config), settings_(settings), memory_(memory), scope_(scope), place_(place) {
    Compressor** last = &scope.notes.compressors;
    while (*last) last = &(*last)->next_;
    *last = this;
  }
  ~Compressor() override {
    for (Compressor** at = &scope_.notes.compressors; *at; at = &(*at)->next_) {
      if (*at != this) continue;
      *at = next_;
      break;
    }
    for (Compression* each : {&request_, &response_}) {
      if (each->encoder) each->encoders->give(scope_.worker, std::move(each->encoder));
    }
  }

  FilterStatus onRequestHead(http::RequestHead& head, const route::RequestView&,
                             bool end) override {
    http::HeaderMap& headers = head.headers;
    if (const http::HeaderEntry* accepted = headers.find(http::HeaderId::AcceptEncoding)) {
      accepted_ = memory_.keep(accepted->value());
      has_accepted_ = true;
    }
    if (isResponseEnabled() && removesAcceptEncoding()) {
      headers.remove(http::HeaderId::AcceptEncoding);
    }
    const CompressorConfig::Direction& direction = config_.request();
    if (!end && direction.isEnabled() && !isUpgrade(headers) && isLongEnough(direction, headers) &&
        direction.takesType(headers) && !headers.find(http::HeaderId::ContentEncoding) &&
        begin(request_, config_.encoders())) {
      request_ends_apart_ = head.version <= http::Version::Http11;
      headers.remove(http::HeaderId::ContentLength);
      headers.set(http::HeaderId::ContentEncoding, config_.encoders().name());
      count(direction, CompressorCounter::Compressed);
    } else {
      count(direction, CompressorCounter::NotCompressed);
    }
    return FilterStatus::Continue;
  }
  FilterStatus onRequestData(std::string_view data, bool end) override {
    const bool ends_apart = end && request_ends_apart_ && !data.empty();
    return ends_apart ? compressLast(request_, config_.request(), data)
                      : compress(request_, config_.request(), data, end);
  }
  FilterStatus onRequestTrailers(http::HeaderMap& trailers) override {
    return finish(request_, config_.request(), trailers);
  }

  FilterStatus onResponseHead(uint16_t status, http::HeaderMap& headers, bool end,
                              Arena& arena) override {
    const CompressorConfig::Direction& direction = config_.response();
    const Verdict verdict = config_.plan().tells_status ? judgeFirst(status, headers, end)
                                                        : judge(status, headers, end);
    if (verdict.compresses && begin(response_, encoders())) {
      scope_.notes.sees_response_body = true;
      ends_apart_ = isOfHttp1();
      tellStatus(headers, kCompressedStatus, arena);
      changeEtag(headers, arena);
      headers.remove(http::HeaderId::ContentLength);
      headers.set(http::HeaderId::ContentEncoding, encoders().name());
      count(direction, CompressorCounter::Compressed);
    } else {
      count(direction, CompressorCounter::NotCompressed);
      if (!verdict.why_not.empty()) tellStatus(headers, verdict.why_not, arena);
    }
    if (verdict.is_compressible) varyByEncoding(headers, arena);
    return FilterStatus::Continue;
  }
  FilterStatus onResponseData(std::string_view data, bool end) override {
    const bool ends_apart = end && ends_apart_ && !data.empty();
    return ends_apart ? compressLast(response_, config_.response(), data)
                      : compress(response_, config_.response(), data, end);
  }
  FilterStatus onResponseTrailers(http::HeaderMap& trailers) override {
    return finish(response_, config_.response(), trailers);
  }

  std::string_view replacement() const override { return made_; }
  bool addTrailers(http::HeaderMap& trailers, Arena&) const override {
    return latest_ && latest_->trailers.addTo(trailers);
  }

 private:
  // Of one message that is compressed.
  struct Compression {
    const Encoders* encoders = nullptr;
    std::unique_ptr<coding::Encoder> encoder;
    KeptTrailers trailers;
  };

  const Encoders& encoders() const {
    return settings_ && settings_->encoders ? *settings_->encoders : config_.encoders();
  }
  bool isResponseEnabled() const {
    if (settings_ && settings_->response_enabled) return *settings_->response_enabled;
    return config_.response().isEnabled();
  }
  bool removesAcceptEncoding() const {
    if (settings_ && settings_->remove_accept_encoding) return *settings_->remove_accept_encoding;
    return config_.plan().remove_accept_encoding;
  }
  void count(const CompressorConfig::Direction& direction, CompressorCounter counter,
             uint64_t amount = 1) const {
    direction.stats->shard(scope_.worker + 1)->add(counter, amount);
  }
  void count(ChoiceCounter counter) const { config_.choiceStats(scope_.worker).add(counter); }

  bool isOfHttp1() const {
    format::FormatContext context;
    place_.describe(&context);
    return context.details == "via_upstream" && context.upstream_protocol.starts_with("HTTP/1");
  }

  // A message of unknown length is.
  bool isLongEnough(const CompressorConfig::Direction& direction,
                    const http::HeaderMap& headers) const {
    const http::HeaderEntry* const length = headers.find(http::HeaderId::ContentLength);
    if (!length) return true;
    uint64_t bytes = 0;
    if (parseDecimal(length->value(), &bytes) && bytes >= direction.min_content_length) return true;
    count(direction, CompressorCounter::ContentLengthTooSmall);
    return false;
  }

  struct Verdict {
    bool compresses = false;
    // It would be, for a client that wants it.
    bool is_compressible = false;
    // Of what clients are told; empty: nothing.
    std::string_view why_not = {};
  };

  // What says that the body is to stay as it is.
  bool isFixed(const http::HeaderMap& headers) const {
    return isUpgrade(headers) || headers.find(http::HeaderId::ContentEncoding) ||
           containsToken(textOf(headers, http::HeaderId::CacheControl), "no-transform");
  }
  bool isEtagAllowed(const http::HeaderMap& headers) const {
    const plan::Compressor& plan = config_.plan();
    if (!plan.disable_on_etag || plan.weaken_etag || !headers.find(http::HeaderId::Etag))
      return true;
    count(ChoiceCounter::NotCompressedEtag);
    return false;
  }
  bool isStatusAllowed(uint16_t status) const {
    const std::vector<uint32_t>& statuses = config_.plan().uncompressible_statuses;
    return std::ranges::find(statuses, status) == statuses.end();
  }

  // What the client wants is counted of all answers that are long enough.
  Verdict judge(uint16_t status, const http::HeaderMap& headers, bool end) {
    Verdict verdict;
    if (!isResponseEnabled() || !isLongEnough(config_.response(), headers)) return verdict;
    verdict.is_compressible = !isFixed(headers) && config_.response().takesType(headers) &&
                              isEtagAllowed(headers) && isStatusAllowed(status);
    verdict.compresses = !end && isWanted(headers) && verdict.is_compressible;
    return verdict;
  }
  // The same where clients are told: what the client wants is asked last.
  Verdict judgeFirst(uint16_t status, const http::HeaderMap& headers, bool end) {
    Verdict verdict;
    const CompressorConfig::Direction& direction = config_.response();
    if (end) return judge(status, headers, end);
    if (!isResponseEnabled()) return verdict;
    const bool is_long_enough = isLongEnough(direction, headers);
    if (isFixed(headers)) return verdict;
    if (!is_long_enough) {
      // The real server asks twice.
      count(direction, CompressorCounter::ContentLengthTooSmall);
      verdict.why_not = "ContentLengthTooSmall";
    } else if (!direction.takesType(headers)) {
      verdict.why_not = "ContentTypeNotAllowed";
    } else if (!isEtagAllowed(headers)) {
      verdict.why_not = "EtagNotAllowed";
    } else if (!isStatusAllowed(status)) {
      verdict.why_not = "StatusCodeNotAllowed";
    } else {
      verdict.is_compressible = true;
      verdict.compresses = isWanted(headers);
    }
    return verdict;
  }

  // Whether the client wants this coding, of those that the chain has.
  bool isWanted(const http::HeaderMap& headers) {
    if (!has_accepted_) {
      count(ChoiceCounter::NoAcceptHeader);
      return false;
    }
    Compressor& first = *scope_.notes.compressors;
    if (!first.choice_) first.choice_ = choose(headers);
    const bool is_own = equalsIgnoreCase(encoders().name(), first.choice_->name);
    switch (first.choice_->by) {
      case CodingChoice::By::Name:
        count(is_own ? ChoiceCounter::HeaderCompressorUsed
                     : ChoiceCounter::HeaderCompressorOvershadowed);
        break;
      case CodingChoice::By::Identity:
        count(ChoiceCounter::HeaderIdentity);
        break;
      case CodingChoice::By::Wildcard:
        count(ChoiceCounter::HeaderWildcard);
        break;
      case CodingChoice::By::NotValid:
        count(ChoiceCounter::HeaderNotValid);
        break;
    }
    return is_own;
  }
  // Once for a request, by the first that has to know.
  CodingChoice choose(const http::HeaderMap& headers) const {
    OfferedCoding offers[kMaxOffers];
    size_t count = 0;
    const std::string_view type = mediaTypeOf(headers);
    for (const Compressor* each = scope_.notes.compressors; each; each = each->next_) {
      if (!type.empty() && !each->config_.response().takesType(headers)) continue;
      const std::string_view name = each->encoders().name();
      const auto is_known = [name](const OfferedCoding& offer) { return offer.name == name; };
      if (std::any_of(offers, offers + count, is_known)) continue;
      offers[count++] = {name, each->config_.plan().choose_first};
    }
    return chooseCoding(accepted_, {offers, count});
  }

  // ---- heads ----

  // "gzip;Compressed;OriginalLength=100", with nothing after the = of a body whose length nobody
  // said.
  void tellStatus(http::HeaderMap& headers, std::string_view status, Arena& arena) const {
    if (!config_.plan().tells_status) return;
    std::string_view text = arena.join(encoders().name(), ";", status);
    if (status == kCompressedStatus) {
      text = arena.join(text, ";OriginalLength=", textOf(headers, http::HeaderId::ContentLength));
    }
    static const std::string& name = *new std::string(http::ownHeader("compression-status"));
    headers.add(http::HeaderId::Other, name, text);
  }
  // A strong one speaks of other bytes now.
  void changeEtag(http::HeaderMap& headers, Arena& arena) const {
    http::HeaderEntry* const etag = headers.find(http::HeaderId::Etag);
    if (!etag || isWeak(etag->value())) return;
    if (config_.plan().weaken_etag) {
      etag->setValue(arena.join("W/", etag->value()));
    } else {
      headers.remove(http::HeaderId::Etag);
    }
  }
  static void varyByEncoding(http::HeaderMap& headers, Arena& arena) {
    constexpr std::string_view kName = "Accept-Encoding";
    http::HeaderEntry* const vary = headers.find(http::HeaderId::Vary);
    if (!vary) {
      headers.add(http::HeaderId::Vary, "vary", kName);
    } else if (!hasToken(vary->value(), kName)) {
      vary->setValue(arena.join(vary->value(), ", ", kName));
    }
  }

  // ---- bodies ----

  bool begin(Compression& compression, const Encoders& encoders) const {
    compression.encoders = &encoders;
    compression.encoder = encoders.take(scope_.worker);
    return compression.encoder != nullptr;
  }
  FilterStatus compress(Compression& compression, const CompressorConfig::Direction& direction,
                        std::string_view data, bool end) {
    if (!compression.encoder) return FilterStatus::Continue;
    latest_ = &compression;
    made_ = compression.encoder->encode(data, end);
    count(direction, CompressorCounter::TotalUncompressedBytes, data.size());
    count(direction, CompressorCounter::TotalCompressedBytes, made_.size());
    return made_.empty() && !end ? FilterStatus::Take : FilterStatus::Replace;
  }
  // What is before the end by itself.
  FilterStatus compressLast(Compression& compression, const CompressorConfig::Direction& direction,
                            std::string_view data) {
    if (!compression.encoder) return FilterStatus::Continue;
    compress(compression, direction, data, false);
    joined_ = made_;
    compress(compression, direction, {}, true);
    made_ = joined_.append(made_);
    return FilterStatus::Replace;
  }
  // Trailers end the message: what ends the body comes before them.
  FilterStatus finish(Compression& compression, const CompressorConfig::Direction& direction,
                      const http::HeaderMap& trailers) {
    if (!compression.encoder) return FilterStatus::Continue;
    compression.trailers.keep(trailers, memory_);
    return compress(compression, direction, {}, true);
  }

  const CompressorConfig& config_;
  // Null: the route has none.
  const CompressorSettings* const settings_;
  FilterMemory& memory_;
  const FilterScope& scope_;
  FilterPlace& place_;
  // The next one of the chain.
  Compressor* next_ = nullptr;
  std::string_view accepted_;
  // What has been chosen for the request: of the first one alone.
  std::optional<CodingChoice> choice_;
  Compression request_;
  Compression response_;
  const Compression* latest_ = nullptr;
  std::string_view made_;
  // As the real server is told by a client or a host of HTTP/1, the end of a message comes behind
  // its last bytes.
  bool request_ends_apart_ = false;
  bool ends_apart_ = false;
  std::string joined_;
  bool has_accepted_ = false;
};

// ---- configurations ----

Result<std::unique_ptr<const Encoders>> Encoders::build(const plan::Encoder& plan,
                                                        unsigned workers) {
  auto config = coding::EncoderConfig::build(plan);
  if (!config) return config.error();
  auto encoders = std::make_unique<Encoders>();
  encoders->config_ = std::move(config.value());
  encoders->pools_.resize(workers);
  return std::unique_ptr<const Encoders>(std::move(encoders));
}

Result<std::unique_ptr<const CompressorSettings>> CompressorSettings::build(
    const plan::CompressorSettings& plan, const RouteScope& scope) {
  auto settings = std::make_unique<CompressorSettings>();
  settings->response_enabled = plan.response_enabled;
  settings->remove_accept_encoding = plan.remove_accept_encoding;
  if (plan.encoder) {
    auto encoders = Encoders::build(*plan.encoder, scope.workers);
    if (!encoders) return encoders.error();
    settings->encoders = std::move(encoders.value());
  }
  return std::unique_ptr<const CompressorSettings>(std::move(settings));
}

bool CompressorConfig::Direction::takesType(const http::HeaderMap& headers) const {
  if (!headers.find(http::HeaderId::ContentType)) return true;
  const std::string_view type = mediaTypeOf(headers);
  return std::ranges::any_of(content_types, [type](const auto& one) { return one.matches(type); });
}

namespace {

Result<void> fill(CompressorConfig::Direction& direction,
                  const Boxed<plan::CompressorDirection>& plan, std::string_view prefix,
                  const ConfigScope& scope) {
  direction.stats =
      scope.registry.create<stats::HttpCompressor>(stats::innerScope(scope.stats, prefix));
  if (!plan) return {};
  direction.is_there = true;
  direction.min_content_length = plan->min_content_length;
  direction.enabled = plan->enabled
                          ? RuntimeNumber(plan->enabled->value, plan->enabled->slot, &scope.slots)
                          : RuntimeNumber(1, 0, nullptr);
  for (const plan::StringMatch& type : plan->content_types) {
    auto matcher = match::StringMatcher::build(type);
    if (!matcher) return matcher.error();
    direction.content_types.push_back(std::move(matcher.value()));
  }
  return {};
}

}  // namespace

BuiltFilter CompressorConfig::build(const plan::Compressor& plan, const ConfigScope& scope) {
  if (!plan.encoder) return Error{"a compressor without a coding"};
  auto config = std::make_shared<CompressorConfig>();
  config->plan_ = plan;
  auto encoders = Encoders::build(*plan.encoder, scope.workers);
  if (!encoders) return encoders.error();
  config->encoders_ = std::move(encoders.value());
  const std::string prefix =
      "compressor." + plan.library + "." + std::string(config->encoders_->statName()) + ".";
  const auto request = fill(config->request_, plan.request, prefix + "request.", scope);
  if (!request) return request.error();
  const auto response = fill(config->response_, plan.response,
                             plan.names_response ? prefix + "response." : prefix, scope);
  if (!response) return response.error();
  config->choice_stats_ =
      scope.registry.create<stats::HttpCompressorChoice>(stats::innerScope(scope.stats, prefix));
  return std::shared_ptr<const HttpFilterConfig>(std::move(config));
}

HttpFilter* CompressorConfig::make(FilterMemory& memory, const FilterScope& scope,
                                   FilterPlace& place) const {
  const CompressorSettings* settings = nullptr;
  const route::FilterConfigList own = place.routeConfigs();
  if (!own.empty()) settings = CompressorSettings::of(own.front());
  return memory.make<Compressor>(*this, settings, memory, scope, place);
}

}  // namespace fairlead::filters
