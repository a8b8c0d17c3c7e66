// One try of a request: its place in a host's pool, then its exchange with that host. Owned by
// whoever tries (a router, a mirror), and used again for its next try. The worker's thread.
//
// Always holds:
// - Its host lives from start() to release(), also after the try is over.
// - With the last bytes of an answer, or a failure, the try is over before its owner hears of it,
// and
//   nothing of it is touched after that: the owner may start it again from there.
#pragma once

#include <algorithm>

#include "upstream/pool.h"
#include "upstream/upstream_error.h"

namespace fairlead::upstream {

class Attempt;

class AttemptOwner {
 public:
  // The host takes the request now.
  virtual void onAttemptReady(Attempt& attempt, PooledConnection& connection) = 0;
  virtual void onAttemptInformational(Attempt& attempt, http::ResponseHead& head) = 0;
  virtual void onAttemptHead(Attempt& attempt, http::ResponseHead& head, bool end) = 0;
  virtual void onAttemptData(Attempt& attempt, std::string_view data, bool end) = 0;
  virtual void onAttemptTrailers(Attempt& attempt, http::HeaderMap& trailers) = 0;
  // All that one read brought has been told.
  virtual void onAttemptReadEnd(Attempt& attempt) = 0;
  // There will be no answer, or no more of it.
  virtual void onAttemptFailed(Attempt& attempt, const UpstreamError& error) = 0;
  // What was written for the host fell below the low watermark.
  virtual void onAttemptWritable(Attempt& attempt) = 0;
  // The socket is readable while its body is taken raw.
  virtual void onAttemptRawReadable(Attempt& attempt) = 0;
  // As http::ResponseSink.
  virtual void prefetch(http::ResponseSink::Ahead) const {}

 protected:
  ~AttemptOwner() = default;
};

class Attempt final : public PoolWaiter {
 public:
  // `meter`: where its bytes are counted.
  Attempt(AttemptOwner& owner, http::ByteMeter& meter) : owner_(&owner), meter_(meter) {}
  ~Attempt() { FL_DCHECK(!pool_); }

  // Its owner may hear the rest before this returns. `priority`: whose limits count.
  void start(HttpPool& pool, uint8_t priority);
  // Who hears of what comes next. While nothing is under way.
  void setOwner(AttemptOwner& owner) { owner_ = &owner; }
  // Neither the place nor the answer is wanted any more.
  void abandon();
  // The last bytes of its answer were taken past the codec.
  void finish() { becomeIdle(); }
  // Its host may go. As new.
  void release();

  bool isActive() const { return state_ != State::Idle; }
  bool isWaiting() const { return state_ == State::Waiting; }
  // No head has come.
  bool awaitsHead() const { return state_ == State::Waiting || state_ == State::Asked; }
  // Null: there is none, or none any more.
  http::ClientStream* stream() const { return stream_; }
  // Of the latest start().
  Host& host() { return pool_->host(); }
  Cluster& hostCluster() { return pool_->cluster().cluster(); }

  // Its owner's: when it has taken too long, and whether another one was started because of that.
  net::Millis try_deadline = net::kNever;
  net::Millis idle_deadline = net::kNever;
  net::Millis exchange_deadline = net::kNever;
  bool was_hedged = false;
  // Where times are recorded.
  net::Millis began_at = 0;
  // It was told of already as one that took too long.
  bool was_late = false;
  // Its host has answered in the meantime already.
  bool was_informed = false;

  net::Millis nextDeadline() const {
    return std::min({try_deadline, idle_deadline, exchange_deadline});
  }

 private:
  enum class State : uint8_t {
    // Nothing is under way.
    Idle,
    // For a connection.
    Waiting,
    // The host has the request, or what there is of it.
    Asked,
    // Its answer has begun.
    Answering,
  };
  void becomeIdle();

  // PoolWaiter
  void onPoolReady(http::ClientStream& stream, Host& host, PooledConnection& connection) override;
  void onPoolFailure(UpstreamError::Kind failure, Host* host, std::string_view details) override;
  // http::ResponseSink
  void onInformational(http::ResponseHead& head) override;
  void onResponseHead(http::ResponseHead& head, bool end) override;
  void onResponseData(std::string_view data, bool end) override;
  void onResponseTrailers(http::HeaderMap& trailers) override;
  void onResponseReadEnd() override;
  void onResponseReset(http::ResetReason reason, std::string_view details) override;
  void onUpstreamWritable() override { owner_->onAttemptWritable(*this); }
  void onRawReadable() override { owner_->onAttemptRawReadable(*this); }
  http::ByteMeter& upstreamMeter() override { return meter_; }
  void prefetch(Ahead ahead) const override { owner_->prefetch(ahead); }

  AttemptOwner* owner_;
  http::ByteMeter& meter_;
  // Held, so that the host lives. Null: none.
  HttpPool* pool_ = nullptr;
  http::ClientStream* stream_ = nullptr;
  State state_ = State::Idle;
};

}  // namespace fairlead::upstream
