#include "filters/http/cache.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/wall_clock.h"
#include "caches/byte_range.h"
#include "caches/policy.h"

namespace fairlead::filters {

using http::HeaderEntry;
using http::HeaderId;
using http::HeaderMap;

namespace {

constexpr std::string_view kFromCache = "cache.response_from_cache_filter";
// Of a body, given or read at once.
constexpr size_t kPieceBytes = 64 * 1024;

// Of one request.
class Caching final : public HttpFilter,
                      private net::Deferred,
                      private caches::Asker,
                      private FetchOwner {
 public:
  Caching(const CacheConfig& config, FilterMemory& memory, const FilterScope& scope,
          FilterPlace& place)
      : config_(config), memory_(memory), scope_(scope), place_(place) {}
  ~Caching() override {
    if (ticket_) ticket_->tear();
    if (fetch_) fetch_->leave();
  }

  FilterStatus onRequestHead(http::RequestHead& head, const route::RequestView& view,
                             bool end) override;
  LocalReply answer() const override { return refusal_; }
  void onAnswerWritable() override {
    if (fetch_ || (entry_ && is_serving_)) place_.loop().defer(this);
  }

 private:
  // caches::Asker
  void onLookup(caches::EntryRef entry) override;
  void onRead(std::string bytes) override;
  // FetchOwner
  void onFetchedHead(uint16_t status, HeaderMap& headers, bool end) override;
  void onFetchedData(std::string_view data, bool end) override;
  void onFetchedTrailers(HeaderMap& trailers) override;
  void onFetchedWhole(uint16_t status, HeaderMap& headers, std::string_view body) override;
  void onFetchBroken() override;
  void onValidated(const caches::EntryRef& stored, HeaderMap& headers) override;
  // net::Deferred: the answer begins, or goes on.
  void onDeferred() override;

  void findCluster(const route::RequestView& view);
  // False: the store will say later.
  bool lookup(const HeaderMap& request);
  // What was found is an answer, or nothing.
  bool isVariant(const HeaderMap& request);
  // False: its host has to be asked.
  bool isUsable();
  bool fetch(std::string_view method, std::string_view path, std::string_view authority,
             HeaderMap& request);
  void serve();
  void give();
  bool give(std::string_view piece);
  void finishBody();
  bool mayGiveMore();
  caches::Place where() { return {place_.loop(), scope_.worker}; }
  upstream::WorkerCluster* cluster() {
    if (has_cluster_id_) return scope_.clusters.find(cluster_id_);
    return cluster_name_.empty() ? nullptr : scope_.clusters.find(cluster_name_);
  }

  const CacheConfig& config_;
  FilterMemory& memory_;
  const FilterScope& scope_;
  FilterPlace& place_;
  LocalReply refusal_{500, {}, {}};
  caches::RequestDirectives says_;
  std::string key_;
  // Of what was found: the key itself, or that of a variant.
  std::string found_key_;
  // Of a request that waits for a store.
  http::SavedHead request_;
  std::string_view range_;
  caches::EntryRef entry_;
  // Null: nobody waits for a store.
  caches::TicketRef ticket_;
  // Null: no host is asked.
  CacheFetch* fetch_ = nullptr;
  int64_t age_s_ = 0;
  // Of a body that is given.
  uint64_t next_ = 0;
  uint64_t end_ = 0;
  uint32_t cluster_id_ = 0;
  std::string_view cluster_name_;
  bool has_route_ = false;
  bool has_cluster_id_ = false;
  bool is_head_ = false;
  // The head of what is stored has been given.
  bool is_serving_ = false;
  bool is_reading_ = false;
  bool gives_trailers_ = false;
};

// ---- the request ----

FilterStatus Caching::onRequestHead(http::RequestHead& head, const route::RequestView& view,
                                    bool end) {
  if (!end || !caches::mayServe(head, view.scheme)) return FilterStatus::Continue;
  is_head_ = head.method == "HEAD";
  if (!config_.plan().ignores_request_cache_control) {
    says_ = caches::RequestDirectives::of(head.headers);
  }
  const auto isRange = [](const HeaderEntry& entry) { return entry.name() == "range"; };
  if (std::ranges::count_if(head.headers, isRange) == 1) {
    range_ = memory_.keep(std::ranges::find_if(head.headers, isRange)->value());
  }
  findCluster(view);
  key_ = caches::keyOf(view.scheme, head.authority, head.path);
  found_key_ = key_;
  if (!lookup(head.headers)) {
    request_.save(head.method, head.path, head.authority, head.headers);
    return FilterStatus::Pause;
  }
  if (isUsable()) {
    place_.loop().defer(this);
    return FilterStatus::Pause;
  }
  return fetch(head.method, head.path, head.authority, head.headers) ? FilterStatus::Pause
                                                                     : FilterStatus::Answer;
}

void Caching::findCluster(const route::RequestView& view) {
  if (!scope_.route || !scope_.route->cluster) return;
  has_route_ = true;
  const route::Target& target = scope_.route->cluster->pick(view);
  std::string_view name;
  if (target.cluster) {
    cluster_id_ = target.cluster.id();
    has_cluster_id_ = true;
  } else if (view.header(target.cluster_header, &name)) {
    cluster_name_ = memory_.keep(name);
  }
}

// ---- what is stored ----

bool Caching::lookup(const HeaderMap& request) {
  if (!ticket_) ticket_ = std::make_shared<caches::Ticket>(static_cast<caches::Asker&>(*this));
  for (;;) {
    entry_.reset();
    if (!config_.parts()->cache->lookup(found_key_, where(), ticket_, &entry_)) return false;
    if (!isVariant(request)) return true;
  }
}

// What was found says where else to look.
bool Caching::isVariant(const HeaderMap& request) {
  if (!entry_ || !entry_->is_directory) return false;
  const caches::EntryRef directory = std::exchange(entry_, nullptr);
  if (found_key_ != key_) return false;
  HeaderMap headers;
  directory->headers.restore(&headers);
  const auto variant = config_.parts()->vary.variantOf(caches::varyOf(headers), request);
  if (!variant) return false;
  found_key_.append("\n").append(*variant);
  return true;
}

void Caching::onLookup(caches::EntryRef entry) {
  entry_ = std::move(entry);
  HeaderMap& request = config_.worker(scope_.worker).scratch();
  request_.restore(&request);
  if (isVariant(request) && !lookup(request)) return;
  if (isUsable()) {
    serve();
  } else if (!fetch(request_.method(), request_.path(), request_.authority(), request)) {
    place_.answer(refusal_);
  }
}

bool Caching::isUsable() {
  if (!entry_) return false;
  HeaderMap headers;
  entry_->headers.restore(&headers);
  age_s_ = caches::ageOf(headers, entry_->stored_at_us, wallClockMicros());
  return !caches::needsValidation(headers, age_s_, says_);
}

// ---- what is not, or is too old ----

// False: refused. The request is changed as what its host is asked is: logs tell of it.
bool Caching::fetch(std::string_view method, std::string_view path, std::string_view authority,
                    HeaderMap& request) {
  if (!has_route_) {
    refusal_ = {404, {}, "cache_no_route"};
    return false;
  }
  upstream::WorkerCluster* const to = cluster();
  if (!to) {
    refusal_ = {503, {}, "cache_no_cluster"};
    return false;
  }
  FetchOrder order{key_, request, entry_, found_key_, !says_.no_store, is_head_};
  if (entry_) {
    HeaderMap stored;
    entry_->headers.restore(&stored);
    HeaderMap& asked = request;
    caches::askForChange(stored, asked);
    // What was set lives as long as the entry, which this filter holds.
    for (HeaderEntry& entry : asked) {
      if (entry.id == HeaderId::IfNoneMatch || entry.id == HeaderId::IfModifiedSince) {
        entry.setValue(memory_.keep(entry.value()));
      }
    }
  }
  const std::string& local = config_.plan().local_address;
  const HeaderEntry* const before = request.find(HeaderId::XForwardedFor);
  if (!local.empty()) {
    request.set(HeaderId::XForwardedFor,
                before ? memory_.arena().join(before->value(), ",", local) : local);
  }
  fetch_ = CacheFetch::start(config_.parts(), std::move(order), *this, where(),
                             config_.worker(scope_.worker), *scope_.calls, *to,
                             {method, path, authority, &request});
  return true;
}

void Caching::onFetchedHead(uint16_t status, HeaderMap& headers, bool end) {
  if (end) fetch_ = nullptr;
  if (!place_.beginAnswer({status, headers, "via_upstream"}, end)) return;
  if (!end && !mayGiveMore()) fetch_->hold();
}

void Caching::onFetchedData(std::string_view data, bool end) {
  if (end) fetch_ = nullptr;
  if (!place_.giveAnswerData(data, end)) return;
  if (!end && !mayGiveMore()) fetch_->hold();
}

void Caching::onFetchedTrailers(HeaderMap& trailers) {
  fetch_ = nullptr;
  place_.giveAnswerTrailers(trailers);
}

void Caching::onFetchedWhole(uint16_t status, HeaderMap& headers, std::string_view body) {
  fetch_ = nullptr;
  if (!place_.beginAnswer({status, headers, "via_upstream"}, body.empty())) return;
  if (!body.empty()) place_.giveAnswerData(body, true);
}

void Caching::onFetchBroken() {
  fetch_ = nullptr;
  place_.breakAnswer({503, {}, "cache_upstream_reset"});
}

void Caching::onValidated(const caches::EntryRef& stored, HeaderMap& headers) {
  fetch_ = nullptr;
  entry_ = stored;
  end_ = entry_->body_bytes;
  const bool has_body = end_ > 0 || entry_->trailers.isSet();
  gives_trailers_ = true;
  is_serving_ = has_body && !is_head_;
  if (!place_.beginAnswer(
          {entry_->status, headers, kFromCache, format::ResponseFlag::ResponseFromCacheFilter},
          !is_serving_)) {
    return;
  }
  if (is_serving_) give();
}

// ---- the answer ----

void Caching::onDeferred() {
  if (fetch_) {
    if (mayGiveMore()) fetch_->goOn();
  } else if (!is_serving_) {
    serve();
  } else {
    give();
  }
}

bool Caching::mayGiveMore() { return !place_.isAnswerBehind(); }

void Caching::serve() {
  HeaderMap& headers = config_.worker(scope_.worker).scratch();
  entry_->headers.restore(&headers);
  Arena& arena = memory_.arena();
  headers.set(HeaderId::Age, arena.decimal(static_cast<uint64_t>(std::max<int64_t>(0, age_s_))));
  uint16_t status = entry_->status;
  end_ = entry_->body_bytes;
  gives_trailers_ = true;
  const auto range = caches::rangeOf(range_, entry_->body_bytes);
  if (range) {
    const std::string_view size = arena.decimal(entry_->body_bytes);
    gives_trailers_ = false;
    next_ = range->begin;
    end_ = range->end;
    std::string_view said;
    if (range->isEmpty()) {
      status = 416;
      said = arena.join("bytes */", size);
    } else {
      status = 206;
      said = arena.join(arena.join("bytes ", arena.decimal(range->begin), "-"),
                        arena.decimal(range->end - 1), arena.join("/", size));
    }
    headers.add(HeaderId::Other, "content-range", said);
    headers.set(HeaderId::ContentLength, arena.decimal(range->size()));
  }
  is_serving_ = !is_head_ && (next_ < end_ || (gives_trailers_ && entry_->trailers.isSet()));
  if (!place_.beginAnswer(
          {status, headers, kFromCache, format::ResponseFlag::ResponseFromCacheFilter},
          !is_serving_)) {
    return;
  }
  if (is_serving_) give();
}

// As much as the client takes.
void Caching::give() {
  if (is_reading_) return;
  while (next_ < end_) {
    if (!mayGiveMore()) return;
    const auto most = static_cast<size_t>(std::min<uint64_t>(kPieceBytes, end_ - next_));
    if (!entry_->body) {
      is_reading_ = true;
      config_.parts()->cache->read(entry_, next_, most, where(), ticket_);
      return;
    }
    if (!give(std::string_view(*entry_->body).substr(next_, most))) return;
  }
  // Trailers are all that there is.
  if (is_serving_) finishBody();
}

// False: nothing more may be given.
bool Caching::give(std::string_view piece) {
  next_ += piece.size();
  const bool is_last = next_ == end_;
  const bool has_trailers = is_last && gives_trailers_ && entry_->trailers.isSet();
  if (!place_.giveAnswerData(piece, is_last && !has_trailers)) return false;
  if (!is_last) return true;
  if (has_trailers) {
    finishBody();
  } else {
    is_serving_ = false;
  }
  return false;
}

void Caching::finishBody() {
  is_serving_ = false;
  HeaderMap& trailers = config_.worker(scope_.worker).scratch();
  entry_->trailers.restore(&trailers);
  place_.giveAnswerTrailers(trailers);
}

void Caching::onRead(std::string bytes) {
  is_reading_ = false;
  if (bytes.empty()) {
    is_serving_ = false;
    place_.breakAnswer({503, {}, "cache_read_failed"});
    return;
  }
  if (give(bytes)) give();
}

}  // namespace

BuiltFilter CacheConfig::build(const plan::CacheFilter& plan, const ConfigScope& scope) {
  auto config = std::make_shared<CacheConfig>();
  config->plan_ = plan;
  config->stores_ = scope.caches;
  if (!plan.memory && !plan.files) return std::shared_ptr<const HttpFilterConfig>(config);
  if (!scope.caches) return Error{"there are no caches here"};
  auto parts = std::make_shared<CacheFetch::Parts>();
  auto vary = caches::VaryRules::build(plan.allowed_vary_headers);
  if (!vary) return vary.error();
  parts->vary = std::move(vary.value());
  parts->service.plan.is_internal = true;
  if (plan.files) {
    auto cache = scope.caches->files(*plan.files, scope.registry);
    if (!cache) return cache.error();
    parts->cache = std::move(cache.value());
  } else {
    parts->cache = scope.caches->memory();
  }
  config->parts_ = std::move(parts);
  return std::shared_ptr<const HttpFilterConfig>(std::move(config));
}

HttpFilter* CacheConfig::make(FilterMemory& memory, const FilterScope& scope,
                              FilterPlace& place) const {
  return parts_ ? memory.make<Caching>(*this, memory, scope, place) : nullptr;
}

}  // namespace fairlead::filters
