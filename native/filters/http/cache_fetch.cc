#include "filters/http/cache_fetch.h"

#include <utility>

#include "base/wall_clock.h"
#include "caches/policy.h"
#include "upstream/worker_cluster.h"

namespace fairlead::filters {

using http::HeaderEntry;
using http::HeaderId;
using http::HeaderMap;

CacheFetch::CacheFetch(std::shared_ptr<const Parts> parts, FetchOrder order, FetchOwner& owner,
                       const caches::Place& place, caches::CacheWorker& worker)
    : parts_(std::move(parts)),
      owner_(&owner),
      place_(place),
      worker_(worker),
      ticket_(std::make_shared<caches::Ticket>(static_cast<caches::Asker&>(*this))),
      key_(std::move(order.key)),
      stored_(std::move(order.stored)),
      stored_key_(std::move(order.stored_key)),
      may_store_(order.may_store && !order.is_head),
      is_head_(order.is_head) {
  if (may_store_) request_.save({}, {}, {}, order.request);
  worker_.fetching.pushBack(this);
}

CacheFetch* CacheFetch::start(std::shared_ptr<const Parts> parts, FetchOrder order,
                              FetchOwner& owner, const caches::Place& place,
                              caches::CacheWorker& worker, calls::Calls& calls,
                              upstream::WorkerCluster& cluster, const calls::CallHead& head) {
  auto* const fetch = new CacheFetch(std::move(parts), std::move(order), owner, place, worker);
  fetch->call_.openHttp(calls, fetch->parts_->service, cluster, head);
  return fetch;
}

void CacheFetch::leave() {
  owner_ = nullptr;
  if (isIdle()) {
    delete this;
    return;
  }
  resumeFrom(&holds_owner_);
}

// ---- pace ----

void CacheFetch::hold() { pauseFor(&holds_owner_); }

void CacheFetch::goOn() { resumeFrom(&holds_owner_); }

void CacheFetch::onWritten() { resumeFrom(&holds_store_); }

void CacheFetch::pauseFor(bool* reason) {
  if (std::exchange(*reason, true)) return;
  if (holds_owner_ != holds_store_) call_.pause();
}

void CacheFetch::resumeFrom(bool* reason) {
  if (!std::exchange(*reason, false)) return;
  if (!holds_owner_ && !holds_store_) call_.resume();
}

// ---- what its host says ----

void CacheFetch::onCallAnswer(uint16_t status, HeaderMap& received, bool end) {
  has_head_ = true;
  // What was received is scratch, which others may use while filters see this head.
  HeaderMap& headers = worker_.scratch();
  headers.clear();
  for (const HeaderEntry& entry : received) headers.add(entry.id, entry.name(), entry.value());
  caches::removeConnectionHeaders(headers);
  if (status == 304 && stored_) {
    onNotModified(headers);
    return;
  }
  beginStoring(status, headers);
  if (end) store({}, true, nullptr);
  const bool ends = end || is_head_;
  if (FetchOwner* const owner = told(ends)) owner->onFetchedHead(status, headers, ends);
}

FetchOwner* CacheFetch::told(bool end) { return end ? std::exchange(owner_, nullptr) : owner_; }

// What comes of its body, if anything, is nobody's.
void CacheFetch::onNotModified(HeaderMap& headers) {
  HeaderMap stored;
  stored_->headers.restore(&stored);
  const bool is_about_it = caches::isAboutStored(headers, stored);
  caches::completeNotModified(stored, headers);
  if (is_about_it) {
    caches::freshenStored(headers, stored);
    parts_->cache->update(stored_key_, stored_,
                          caches::Entry::withHeaders(*stored_, stored, wallClockMicros()), place_);
  }
  if (FetchOwner* const owner = std::exchange(owner_, nullptr)) {
    owner->onValidated(stored_, headers);
  }
  delete this;
}

void CacheFetch::beginStoring(uint16_t status, const HeaderMap& headers) {
  if (!may_store_) return;
  const caches::ResponseDirectives says = caches::ResponseDirectives::of(headers);
  if (!caches::mayStore(status, headers, says, parts_->vary)) return;
  const auto newEntry = [&] {
    auto entry = std::make_shared<caches::Entry>();
    entry->status = status;
    entry->stored_at_us = wallClockMicros();
    return entry;
  };
  std::string key = key_;
  if (const std::string vary = caches::varyOf(headers); !vary.empty()) {
    HeaderMap request;
    request_.restore(&request);
    const std::optional<std::string> variant = parts_->vary.variantOf(vary, request);
    if (!variant) return;
    // Who looks up the address finds by what its answers vary.
    HeaderMap directory;
    directory.add(HeaderId::Vary, "vary", vary);
    auto entry = newEntry();
    entry->is_directory = true;
    entry->headers.save({}, {}, {}, directory);
    if (auto insertion = parts_->cache->insert(key_, std::move(entry), place_, ticket_)) {
      insertion->commit(nullptr);
    }
    key.append("\n").append(*variant);
  }
  auto entry = newEntry();
  entry->headers.save({}, {}, {}, headers);
  insertion_ = parts_->cache->insert(std::move(key), std::move(entry), place_, ticket_);
}

void CacheFetch::store(std::string_view data, bool end, const HeaderMap* trailers) {
  if (!insertion_) return;
  insertion_->append(data);
  if (end) {
    insertion_->commit(trailers);
    insertion_.reset();
  } else if (insertion_->isBehind()) {
    pauseFor(&holds_store_);
  }
}

void CacheFetch::onCallData(std::string_view data, bool end) {
  store(data, end, nullptr);
  if (FetchOwner* const owner = told(end)) owner->onFetchedData(data, end);
}

void CacheFetch::onCallTrailers(HeaderMap& trailers) {
  store({}, true, &trailers);
  HeaderMap& headers = worker_.scratch();
  headers.clear();
  for (const HeaderEntry& entry : trailers) headers.add(entry.id, entry.name(), entry.value());
  if (FetchOwner* const owner = told(true)) owner->onFetchedTrailers(headers);
}

void CacheFetch::onCallEnd(const calls::CallAnswer& answer) {
  if (FetchOwner* const owner = std::exchange(owner_, nullptr)) {
    if (!has_head_ && answer.is_local) {
      tellWhole(*owner, answer);
    } else {
      // Nothing else can be without its end.
      owner->onFetchBroken();
    }
  }
  delete this;
}

// As a host's, of which it takes the place.
void CacheFetch::tellWhole(FetchOwner& owner, const calls::CallAnswer& answer) {
  HeaderMap& headers = worker_.scratch();
  headers.clear();
  const std::string length = std::to_string(answer.body.size());
  headers.add(HeaderId::ContentLength, "content-length", length);
  headers.add(HeaderId::ContentType, "content-type", "text/plain");
  owner.onFetchedWhole(answer.status, headers, is_head_ ? std::string_view() : answer.body);
}

}  // namespace fairlead::filters
