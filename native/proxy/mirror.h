// A copy of a request, sent to another cluster beside the request itself; nobody waits for its
// answer. Begun and fed by a router, and on its own once that has nothing more for it; then back to
// its pool. The worker's thread.
#pragma once

#include <memory>
#include <optional>
#include <string_view>

#include "base/list.h"
#include "base/slab.h"
#include "http/saved_head.h"
#include "proxy/stream_info.h"
#include "tracing/call_span.h"
#include "upstream/attempt.h"
#include "upstream/name_cache.h"

namespace fairlead::proxy {

// Who feeds a mirror.
class MirrorSender {
 public:
  // The mirror is no longer behind.
  virtual void onMirrorWritable() = 0;

 protected:
  ~MirrorSender() = default;
};

class Mirror final : public ListNode<Mirror>,
                     private upstream::AttemptOwner,
                     private upstream::NameWaiter,
                     private net::Timer {
 public:
  Mirror() : attempt_(*this, bytes_) {}

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
  void sendKept();
  void refuseHead();
  void requestComplete();
  void answerComplete();
  // `host`: null: none was asked.
  void charge(uint16_t status, const upstream::Host* host = nullptr);
  // No host is asked; `flag`: what its span says of that.
  void refuse(std::string_view flag);
  // As its router's options have it.
  void count(uint16_t status, const upstream::Host* host);
  void countHost(upstream::Host& host, bool is_well);
  void tellOutlier(upstream::Host& host, upstream::OutlierResult result, uint16_t status = 0);
  void giveUp();
  // Its client may send on.
  void holdUpNoLonger();
  void dropBody();
  void restIfOver();
  net::Loop& loop() { return context_->loop(); }

  // Null: it rests.
  Context* context_ = nullptr;
  MirrorSender* sender_ = nullptr;
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
  // Its span, and what that will tell. The span is of the configuration that it keeps: the
  // listener's may be gone by its end.
  struct Traced {
    std::shared_ptr<const tracing::Tracing> settings;
    std::unique_ptr<tracing::CallSpan> span;
    // Empty: nobody was asked.
    std::string asked;
    std::string_view flag;
  };
  // Null: it is none.
  std::unique_ptr<Traced> traced_;
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
  // It was given up; its answer broke off.
  bool is_canceled_ = false;
  bool is_broken_ = false;
  // No head can hold it.
  bool has_broken_head_ = false;
};

}  // namespace fairlead::proxy
