// A side that is a stream to a host: one of many on a connection of the cluster's pool, or all of
// one. It is there once the host grants the tunnel that it is asked for, or has taken the
// connection where nobody asks. The worker's thread.
#pragma once

#include <string>

#include "tcp/side.h"
#include "upstream/pool.h"

namespace fairlead::tcp {

// Who asks for the tunnel.
class TunnelOwner {
 public:
  // The host takes the request now: `stream` is to be given its head.
  virtual void onTunnelReady(http::ClientStream& stream,
                             upstream::PooledConnection& connection) = 0;
  // What the host says of it, granted or not.
  virtual void onTunnelAnswer(const http::ResponseHead& head) = 0;
  virtual void onTunnelTrailers(const http::HeaderMap& trailers) = 0;
  // It does not come about. `why`: of the transport, or of the answer; may be empty.
  virtual void onTunnelFailed(std::string_view why) = 0;

 protected:
  ~TunnelOwner() = default;
};

class TunnelSide final : public Side, private upstream::PoolWaiter {
 public:
  // `meter`: where its bytes are counted.
  TunnelSide(upstream::HttpPool& pool, net::Loop& loop, http::ByteMeter& meter,
             SideCallbacks& callbacks, TunnelOwner& owner);

  // Its owner may hear the rest before this returns.
  void start() { pool_.newStream(*this); }

  // Side
  void end(net::Connection::CloseKind kind) override;
  bool wasReset() const override { return was_reset_; }
  bool endsWhole() const override { return !is_multiplexed_ && !pool_.isBare(); }
  void pauseReading() override;
  void resumeReading() override;
  uint64_t readBytes() const override { return read_bytes_; }
  // They leave by themselves, whatever becomes of this.
  size_t pendingBytes() const override { return 0; }
  void write(std::string_view data) override;
  void flush() override;
  void endWriting() override;
  bool isOverHighWatermark() const override;
  net::Connection* raw() override { return nullptr; }

 private:
  enum class State : uint8_t { Waiting, Asked, Open, Over };

  // upstream::PoolWaiter
  void onPoolReady(http::ClientStream& stream, upstream::Host& host,
                   upstream::PooledConnection& connection) override;
  void onPoolFailure(upstream::UpstreamError::Kind failure, upstream::Host* host,
                     std::string_view details) override;
  // http::ResponseSink
  void onInformational(http::ResponseHead&) override {}
  void onResponseHead(http::ResponseHead& head, bool end) override;
  void onResponseData(std::string_view data, bool end) override;
  void onResponseTrailers(http::HeaderMap& trailers) override;
  void onResponseReadEnd() override;
  void onResponseReset(http::ResetReason reason, std::string_view details) override;
  void onUpstreamWritable() override { resumeOther(); }
  void onRawReadable() override {}
  http::ByteMeter& upstreamMeter() override { return meter_; }

  bool isGranted(unsigned status) const;
  void onAnswerEnd();
  void giveUp(std::string_view why);
  void resetStream();

  // Held, so that its host lives.
  upstream::HttpPool& pool_;
  net::Loop& loop_;
  http::ByteMeter& meter_;
  TunnelOwner& owner_;
  // Null: there is none yet, or none any more.
  http::ClientStream* stream_ = nullptr;
  uint64_t read_bytes_ = 0;
  State state_ = State::Waiting;
  bool is_multiplexed_ = false;
  // The request may go on when the answer has ended.
  bool outlasts_answer_ = false;
  bool has_sent_end_ = false;
  bool was_reset_ = false;
};

}  // namespace fairlead::tcp
