// A copy of a request, sent to another cluster beside the request itself; nobody waits for its
// answer. Begun and fed by a router, and on its own once that has nothing more for it; then back to
// its pool. The worker's thread.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "base/list.h"
#include "base/slab.h"
#include "base/worker_pin.h"
#include "http/saved_head.h"
#include "proxy/http_config.h"
#include "proxy/stream_info.h"
#include "proxy/try_owner.h"
#include "tracing/call_span.h"
#include "upstream/name_cache.h"

namespace fairlead::proxy {

struct MirrorTries;

// Who feeds a mirror.
class MirrorSender {
 public:
  // The mirror is no longer behind.
  virtual void onMirrorWritable() = 0;

 protected:
  ~MirrorSender() = default;
};

class Mirror final : public ListNode<Mirror>,
                     private TryOwner,
                     private upstream::NameWaiter,
                     private net::Timer,
                     private net::Deferred {
 public:
  Mirror();
  ~Mirror();

  // Keeps what the copy begins with: the request as it goes out, but for its host. `timeout_ms`:
  // for its answer, from its end on; 0: none. `may_be_broken`: not all of its head came as it is.
  void prepare(MirrorSender& sender, const StreamInfo& info, upstream::WorkerCluster& cluster,
               const route::MirrorPolicy& policy, const http::RequestHead& head, bool end,
               net::Millis timeout_ms, bool may_be_broken);
  void start();
  void onData(std::string_view data, bool end);
  void onTrailers(http::HeaderMap& trailers);
  // More waits for its host than should.
  bool isBehind() const;
  void flush();
  // The sender has nothing more for it. A copy that is not whole is given up.
  void leave();
  // With the worker.
  void abort();

 private:
  // upstream::AttemptOwner
  void onAttemptReady(upstream::Attempt& attempt, upstream::PooledConnection&) override;
  void onAttemptInformational(upstream::Attempt& attempt, http::ResponseHead& head) override;
  void onAttemptHead(upstream::Attempt& attempt, http::ResponseHead& head, bool end) override;
  void onAttemptData(upstream::Attempt& attempt, std::string_view, bool end) override;
  void onAttemptTrailers(upstream::Attempt& attempt, http::HeaderMap& trailers) override;
  void onAttemptReadEnd(upstream::Attempt&) override {}
  void onAttemptFailed(upstream::Attempt&, const upstream::UpstreamError& error) override;
  void onAttemptWritable(upstream::Attempt&) override;
  void onAttemptRawReadable(upstream::Attempt&) override {}
  // upstream::NameWaiter
  void onName(const upstream::KnownName& name) override;
  // net::Timer
  void onTimer() override;
  // net::Deferred: it is over, with nothing of its filters beneath it.
  void onDeferred() override { restIfOver(true); }

  // ---- mirror_tries.cc: filters of tries, and their logs ----
  // TryOwner
  StreamInfo& tryInfo() override;
  TryLogs* tryLogs() override;
  std::shared_ptr<void>& keptByConnection(uint64_t number) override;
  void onTryHead(const http::RequestHead& head, http::SavedHead& spare) override;
  void onTryReady(upstream::Attempt& attempt, upstream::PooledConnection& connection) override;
  bool sendHead(http::ClientStream& to, std::string_view method, std::string_view path,
                std::string_view authority, http::HeaderMap& headers, bool end) override;
  bool keepsForTunnel(std::string_view) override { return false; }
  void onTryBehind() override;
  void onTrySent() override;
  void flushAnswer() override {}
  void pauseReading() override;
  void resumeReading() override;
  void pauseAnswer() override;
  void resumeAnswer() override;
  void replace(const filters::LocalReply& reply, std::string_view name) override;
  void answerTooLarge(Excess of, std::string_view name) override;

  void beginTries(const StreamInfo& request);
  void startTry(upstream::HttpPool& pool);
  void endTries();
  bool passesFilters() const;
  bool areTriesBehind() const;
  void noteConnection(upstream::PooledConnection& connection);

  void beginTrace(const StreamInfo& info, const route::MirrorPolicy& policy,
                  const http::HeaderMap& from);
  void traceAsked(const upstream::Host& host);
  void endTrace();
  const http::HeaderMap& changed(const StreamInfo& info, const route::MirrorPolicy& policy,
                                 const http::HeaderMap& from);
  void noteWanted(const StreamInfo& info, const http::HeaderMap& headers);
  upstream::HttpPool* choosePool();
  void startAttempt();
  bool waitsForHost();
  void stopWaiting();
  // For its host, or a connection to it.
  bool isWaiting() const { return names_ != nullptr || attempt_.isWaiting(); }
  // As its host hears it, but for what filters make of it.
  void restoreHead(http::HeaderMap& headers);
  void sendKept();
  // An answer that gets no further, or one in its host's place: nothing counts.
  void endWith(uint16_t status);
  void requestComplete();
  void answerComplete();
  // `host`: null: none was asked.
  void charge(uint16_t status, const upstream::Host* host = nullptr);
  // No host is asked; `flag`: what its span says of that.
  void refuse(std::string_view flag);
  void countCanary(const http::ResponseHead& head);
  // As its router's options have it.
  void count(uint16_t status, const upstream::Host* host);
  void countHost(upstream::Host& host, bool is_well);
  void tellOutlier(upstream::Host& host, upstream::OutlierResult result, uint16_t status = 0);
  void giveUp();
  // Its client may send on.
  void holdUpNoLonger();
  void dropBody();
  // `is_alone`: nothing of its filters is beneath this.
  void restIfOver(bool is_alone = false);
  net::Loop& loop() { return context_->loop(); }

  // Null: it rests.
  Context* context_ = nullptr;
  MirrorSender* sender_ = nullptr;
  // Its request's: the listener's may be gone by its end.
  WorkerPin<HttpConfig> config_;
  upstream::WorkerCluster* cluster_ = nullptr;
  http::ByteMeter bytes_;
  upstream::Attempt attempt_;
  // With whom it shares connections.
  upstream::PoolUse use_;
  // Which hosts it may go to, of a cluster that asks.
  struct Wanted {
    plan::SubsetCriteria criteria;
    std::optional<net::Address> destination;
    std::string name;
  };
  // Null: whoever's turn it is.
  std::unique_ptr<Wanted> wanted_;
  // Its span, and what that will tell.
  struct Traced {
    tracing::CallSpan span;
    // Empty: nobody was asked.
    std::string asked;
    std::string_view flag;
  };
  bool isTraced() const { return traced_ && traced_->span.isOn(); }
  // Kept from use to use; null: none was ever traced.
  std::unique_ptr<Traced> traced_;
  // Kept from use to use; null: none ever needed it. Speaks for this copy while has_tries_.
  std::unique_ptr<MirrorTries> tries_;
  // Where its host is looked up; null: it waits for none.
  upstream::NameCache* names_ = nullptr;
  http::SavedHead head_;
  SlabChain body_;
  http::SavedHead trailers_;
  std::string local_address_;
  std::string_view scheme_ = "http";
  uint64_t buffer_limit_bytes_ = 0;
  net::Millis timeout_ms_ = 0;
  net::Millis deadline_ = net::kNever;
  uint64_t request_end_us_ = 0;
  uint16_t status_ = 0;
  bool has_body_ = false;
  bool is_upgrade_ = false;
  bool is_websocket_ = false;
  bool speaks_http2_ = false;
  bool request_complete_ = false;
  bool is_grpc_ = false;
  // What its router does not count.
  bool counts_no_answers_ = false;
  bool counts_no_grpc_failures_ = false;
  bool awaits_grpc_status_ = false;
  bool is_canary_ = false;
  // It was given up; its answer broke off.
  bool is_canceled_ = false;
  bool is_broken_ = false;
  // Not all of its head came as it is.
  bool may_be_broken_ = false;
  bool has_tries_ = false;
};

}  // namespace fairlead::proxy
