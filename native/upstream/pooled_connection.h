// One connection to a host, with what its pool remembers of it. On one of the pool's lists while it
// is open, freed with the turn in which it closed. The worker's thread.
#pragma once

#include <memory>

#include "base/list.h"
#include "http/codec.h"
#include "net/connection_id.h"
#include "net/loop.h"

namespace fairlead::upstream {

class HttpPool;

class PooledConnection final : public ListNode<PooledConnection>,
                               public net::Mortal,
                               public http::ClientCodecCallbacks {
 public:
  // `priority`: whose budget it was taken from. `expected_streams`: how many it is thought to carry
  // at once, until it is there.
  PooledConnection(HttpPool& pool, uint8_t priority, uint32_t expected_streams)
      : pool_(pool),
        id_(net::takeConnectionId()),
        started_at_us_(net::Loop::readClockMicros()),
        expected_streams_(expected_streams),
        priority_(priority) {}

  void use(std::unique_ptr<http::ClientCodec> codec) { codec_ = std::move(codec); }
  http::ClientCodec& codec() { return *codec_; }
  const http::ClientCodec& codec() const { return *codec_; }
  bool hasRoom() const { return codec_->freeStreams() > 0; }
  uint32_t expectedStreams() const { return expected_streams_; }

  // Asks the kernel once.
  const net::Address& localAddress();
  uint8_t priority() const { return priority_; }
  uint64_t millisSinceStart() const;
  bool isEstablished() const { return established_at_us_ > 0; }
  uint64_t id() const { return id_; }
  // Of the loop's clock: when it was begun, and when it was there; 0: it is not.
  uint64_t startedAtMicros() const { return started_at_us_; }
  uint64_t establishedAtMicros() const { return established_at_us_; }
  uint32_t requestCount() const { return requests_; }
  void countRequest() { ++requests_; }
  // What upstream_cx_rx_bytes_buffered says of it: the size of its latest read.
  uint32_t shownAsBuffered() const { return shown_as_buffered_; }

  // http::ClientCodecCallbacks
  void onConnected() override;
  void onConnectFailed(Failure failure, int error) override;
  void onStreamEnded(http::ResponseSink& sink, StreamEnd end) override;
  void onRoom() override;
  void onGoaway() override;
  void onClosed(CloseReason reason, bool lost_streams) override;
  void serveWaiting() override;
  void onBytes(size_t received, size_t sent) override;

 private:
  HttpPool& pool_;
  std::unique_ptr<http::ClientCodec> codec_;
  net::Address local_address_;
  const uint64_t id_;
  const uint64_t started_at_us_;
  uint64_t established_at_us_ = 0;
  const uint32_t expected_streams_;
  uint32_t requests_ = 0;
  uint32_t shown_as_buffered_ = 0;
  const uint8_t priority_;
};

}  // namespace fairlead::upstream
