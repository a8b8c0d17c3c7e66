// A request of a host for a cache: what it answers goes to the filter that asked, and into the
// store. Once it is being stored it goes on though the filter has left, as the real server's does.
// Its worker's, which owns it (caches::CacheWorker); it ends itself.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "caches/cache.h"
#include "caches/cache_stores.h"
#include "caches/vary.h"
#include "calls/call.h"

namespace fairlead::filters {

// What a filter hears of its fetch. It may end meanwhile, and so leave. With `end`, and where the
// fetch ends, it has left already.
class FetchOwner {
 public:
  // `headers` may be changed; they live until this returns.
  virtual void onFetchedHead(uint16_t status, http::HeaderMap& headers, bool end) = 0;
  virtual void onFetchedData(std::string_view data, bool end) = 0;
  virtual void onFetchedTrailers(http::HeaderMap& trailers) = 0;
  // The proxy's own answer, all of it; the fetch ends.
  virtual void onFetchedWhole(uint16_t status, http::HeaderMap& headers, std::string_view body) = 0;
  // There is no more of an answer that has begun; the fetch ends.
  virtual void onFetchBroken() = 0;
  // What was stored still holds; `headers`: of the answer to give with it. The fetch ends.
  virtual void onValidated(const caches::EntryRef& stored, http::HeaderMap& headers) = 0;

 protected:
  ~FetchOwner() = default;
};

// What is to be fetched, and what may become of it.
struct FetchOrder {
  std::string key;
  // What the request says of `vary` is read of it. Copied.
  const http::HeaderMap& request;
  // Null: there is none, or it is not asked whether it still holds.
  caches::EntryRef stored;
  // Where the store has it.
  std::string stored_key;
  bool may_store = false;
  bool is_head = false;
};

class CacheFetch final : public caches::Fetching, private calls::CallOwner, private caches::Asker {
 public:
  // What fetches are made with; kept by them.
  struct Parts {
    std::shared_ptr<caches::Cache> cache;
    caches::VaryRules vary;
    calls::Service service;
  };

  // `owner` hears of it later, until it leaves.
  static CacheFetch* start(std::shared_ptr<const Parts> parts, FetchOrder order, FetchOwner& owner,
                           const caches::Place& place, caches::CacheWorker& worker,
                           calls::Calls& calls, upstream::WorkerCluster& cluster,
                           const calls::CallHead& head);
  ~CacheFetch() override { ticket_->tear(); }

  // Its owner hears no more of it: it may be gone with this.
  void leave();
  // The owner takes no more for now.
  void hold();
  void goOn();

 private:
  CacheFetch(std::shared_ptr<const Parts> parts, FetchOrder order, FetchOwner& owner,
             const caches::Place& place, caches::CacheWorker& worker);

  // calls::CallOwner
  void onCallAnswer(uint16_t status, http::HeaderMap& headers, bool end) override;
  void onCallData(std::string_view data, bool end) override;
  void onCallTrailers(http::HeaderMap& trailers) override;
  void onCallEnd(const calls::CallAnswer& answer) override;
  // caches::Asker
  void onLookup(caches::EntryRef) override {}
  void onRead(std::string) override {}
  void onWritten() override;

  // Null: nobody hears of it; with the end nobody hears of anything else.
  FetchOwner* told(bool end);
  void onNotModified(http::HeaderMap& headers);
  void beginStoring(uint16_t status, const http::HeaderMap& headers);
  void store(std::string_view data, bool end, const http::HeaderMap* trailers);
  void tellWhole(FetchOwner& owner, const calls::CallAnswer& answer);
  // Nobody needs it any more.
  bool isIdle() const { return !owner_ && !insertion_; }
  void pauseFor(bool* reason);
  void resumeFrom(bool* reason);

  const std::shared_ptr<const Parts> parts_;
  FetchOwner* owner_;
  const caches::Place place_;
  caches::CacheWorker& worker_;
  calls::Call call_{*this};
  const caches::TicketRef ticket_;
  const std::string key_;
  http::SavedHead request_;
  const caches::EntryRef stored_;
  const std::string stored_key_;
  const bool may_store_;
  const bool is_head_;
  std::unique_ptr<caches::Insertion> insertion_;
  // Why no more is read.
  bool holds_owner_ = false;
  bool holds_store_ = false;
  bool has_head_ = false;
};

}  // namespace fairlead::filters
