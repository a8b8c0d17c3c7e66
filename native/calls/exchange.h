// One call as it goes on: its tries, its bytes both ways, what is counted of it. A Call's from
// begin() to its end, then back to its worker's Calls. The worker's thread.
//
// What comes of a host is kept, and told at the end of the turn: whoever asked may then do what it
// likes, with no connection's handler, and no scratch memory of one, beneath it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/list.h"
#include "calls/call.h"
#include "http/saved_head.h"
#include "net/loop.h"
#include "tracing/request_trace.h"
#include "upstream/answer_counts.h"
#include "upstream/attempt.h"

namespace fairlead::calls {

class Exchange final : public ListNode<Exchange>,
                       private upstream::AttemptOwner,
                       private net::Timer,
                       private net::Deferred {
 public:
  enum class Kind : uint8_t { Http, HttpStream, Grpc, GrpcStream };

  Exchange() : attempt_(*this, bytes_) {}

  // Its head has all that it says, but for what the proxy itself adds.
  // `call`: null: nobody hears of it. `kept`: lives as long as it, where nobody else sees to that.
  // `cluster`: in place of the service's; null: that one.
  void begin(Call* call, Calls& calls, const Service& service, Kind kind, const CallHead& head,
             std::string_view body, std::shared_ptr<const void> kept = nullptr,
             upstream::WorkerCluster* cluster = nullptr);
  void send(std::string_view message);
  void finish();
  bool isBehind() const;
  void pause();
  void resume();
  bool hasEnded() const { return has_ended_; }
  const http::ByteMeter& bytes() const { return bytes_; }
  // Its call wants nothing more of it.
  void cancel();
  // The same, but for its host: it lives on for so long.
  void leave(uint64_t ms, std::function<void()> on_time);
  // With the worker.
  void abort();

 private:
  // upstream::AttemptOwner
  void onAttemptReady(upstream::Attempt& attempt, upstream::PooledConnection&) override;
  void onAttemptInformational(upstream::Attempt&, http::ResponseHead&) override {}
  void onAttemptHead(upstream::Attempt& attempt, http::ResponseHead& head, bool end) override;
  void onAttemptData(upstream::Attempt&, std::string_view data, bool end) override;
  void onAttemptTrailers(upstream::Attempt&, http::HeaderMap& trailers) override;
  void onAttemptReadEnd(upstream::Attempt&) override {}
  void onAttemptFailed(upstream::Attempt&, const upstream::UpstreamError& error) override;
  void onAttemptWritable(upstream::Attempt&) override;
  void onAttemptRawReadable(upstream::Attempt&) override {}
  // net::Timer
  void onTimer() override;
  // net::Deferred: tells what has come.
  void onDeferred() override;

  bool isGrpc() const { return kind_ == Kind::Grpc || kind_ == Kind::GrpcStream; }
  bool isStream() const { return kind_ == Kind::HttpStream || kind_ == Kind::GrpcStream; }
  // ---- exchange.cc: asking ----
  void ask();
  // Whether it asks again soon: who has that name is not known yet.
  bool isNameAwaited();
  void sendAll(http::ClientStream& to);
  bool isHeadBroken(const http::HeaderMap& headers);
  void requestComplete();
  // ---- exchange_answer.cc ----
  void readGrpcStatus(const http::HeaderMap& headers);
  bool isTooLarge() const;
  void answerComplete();
  // Its end is known, and told at the end of the turn.
  void end();
  // The proxy's own answer, in place of a host's.
  void answerLocally(uint16_t status, std::string_view text, std::string_view details = {});
  // The same of one that no host is asked for.
  void refuse(std::string_view flag, std::string_view text, std::string_view details);
  // There is no more of an answer that has begun, or it makes no sense.
  void breakOff(int64_t grpc_status, std::string_view text);
  bool tellMessages();
  bool tellParts();
  void tellEnd();
  // ---- another try ----
  bool isWorthRetry(const http::ResponseHead& head) const;
  bool isWorthRetry(const upstream::UpstreamError& error) const;
  // Whether there is one: it is under way then.
  bool isRetried(bool is_worth_retry);
  void giveRetryBack();
  void onTimeout();
  void onTryTimeout();
  void watch(net::Millis deadline);
  // ---- counting ----
  // `host`: null: none was asked.
  upstream::AnswerOf answerOf(const upstream::Host* host) {
    return {*cluster_, host, service_->plan.is_internal};
  }
  void countGoogleEnd();
  void countGrpcAnswer(const http::HeaderMap* fields);
  void tellOutlier(upstream::Host& host, upstream::OutlierResult result, uint16_t status = 0);
  upstream::HostCounters& countersOf(upstream::Host& host);

  // ---- its span ----
  void beginSpan(tracing::RequestTrace& trace, const CallHead& head);
  bool isTraced() const { return span_ && span_->isOn(); }
  // There is one.
  void endSpan(const CallAnswer* answer);

  void rest();
  net::Loop& loop();

  Calls* calls_ = nullptr;
  // Null: nobody hears of it any more.
  Call* call_ = nullptr;
  const Service* service_ = nullptr;
  std::shared_ptr<const void> kept_;
  // Of one that its call has left.
  std::function<void()> on_time_;
  // Held. Null: it is not there.
  upstream::WorkerCluster* cluster_ = nullptr;
  http::ByteMeter bytes_;
  upstream::Attempt attempt_;
  // Kept from use to use; null: none was ever traced.
  std::unique_ptr<tracing::CallSpan> span_;
  // Whom it has asked, and what became of it, as spans have it.
  std::string asked_;
  std::string_view flag_;
  http::SavedHead head_;
  // Of the request, as long as it may be needed (again).
  std::string body_;
  http::SavedHead answer_head_;
  // Of HTTP as it comes.
  http::SavedHead trailers_;
  // Of the answer, what was not told.
  std::string answer_;
  std::string grpc_message_;
  int64_t grpc_status_ = 0;
  net::Millis deadline_ = net::kNever;
  net::Millis retry_at_ = net::kNever;
  net::Millis next_interval_ms_ = 0;
  uint64_t request_end_us_ = 0;
  uint32_t retries_left_ = 0;
  // Another one each time it rests: who told an owner something sees whether it is still the same.
  uint32_t life_ = 0;
  uint16_t status_ = 0;
  Kind kind_ = Kind::Http;
  bool is_request_complete_ = false;
  bool holds_retry_ = false;
  bool waits_for_name_ = false;
  bool is_local_ = false;
  bool is_broken_ = false;
  bool has_ended_ = false;
  // Its head has come, and was told.
  bool has_head_ = false;
  bool awaits_grpc_status_ = false;
  bool is_canary_ = false;
  bool told_head_ = false;
  bool tells_writable_ = false;
};

}  // namespace fairlead::calls
