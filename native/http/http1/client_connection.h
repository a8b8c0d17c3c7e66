// One HTTP/1 connection to a host: writes requests one after another, reads their answers.
// Owns itself, as ServerConnection does; a pool knows it while it is open. The worker's thread.
#pragma once

#include <memory>
#include <string>

#include "base/list.h"
#include "http/codec.h"
#include "http/http1/chunk_decoder.h"
#include "http/http1/framing.h"
#include "http/http1/scanner.h"
#include "http/http1/serializer.h"
#include "net/connection.h"

namespace fairlead::http1 {

struct ClientSettings {
  HeadLimits limits = {};
  bool enable_trailers = false;
  net::Millis connect_timeout_ms = 5000;
  net::Millis idle_timeout_ms = 0;  // 0: none.
  net::Millis max_duration_ms = 0;  // 0: none.
  uint32_t max_requests = 0;        // 0: no limit.
};

class ClientConnection;

// A connection's place in its pool's lists.
class PooledNode : public ListNode<PooledNode> {
 public:
  ClientConnection* connection = nullptr;
};

// Who keeps the connection: a pool. Told before the sink of the active stream is.
class ClientCallbacks {
 public:
  enum class Failure : uint8_t { Refused, Timeout };
  virtual void onConnected(ClientConnection& connection) = 0;
  virtual void onConnectFailed(ClientConnection& connection, Failure failure, int error) = 0;
  // An answer is complete. `reusable`: another request may follow on this connection, which is
  // otherwise closing.
  virtual void onExchangeDone(ClientConnection& connection, bool reusable) = 0;
  enum class CloseReason : uint8_t {
    Peer,
    // The peer ended it in the middle of an answer.
    PeerInMessage,
    Local,
    // The peer said that this answer is its last.
    CloseNotify,
    // The peer said so, and ended the connection to end its answer.
    PeerAfterNotify,
    MaxRequests,
    IdleTimeout,
    MaxDuration,
    ProtocolError,
    // The answer came before the request was sent whole.
    RequestUnsent,
  };
  // The connection is over; the callee must not use it after this returns.
  virtual void onClosed(ClientConnection& connection, CloseReason reason, bool had_stream) = 0;
  // The sink has heard the end of its answer: requests that wait may have the connection now.
  virtual void serveWaiting() = 0;
  virtual void onBytes(ClientConnection& connection, size_t received, size_t sent) = 0;

 protected:
  ~ClientCallbacks() = default;
};

class ClientConnection final : public net::Connection,
                               public http::ClientStream,
                               private net::Timer {
 public:
  ClientConnection(net::Loop& loop, net::FileDescriptor fd, uint32_t buffer_limit_bytes,
                   const ClientSettings& settings, net::OutBatch& batch,
                   http::ResponseHead& scratch, ClientCallbacks& callbacks);

  // The pool's: which of its lists holds the connection, and which budgets it was taken from.
  PooledNode& node() { return node_; }
  uint8_t connection_priority = 0;
  uint8_t request_priority = 0;
  // What upstream_cx_rx_bytes_buffered says of it: the size of its latest read.
  uint32_t shown_as_buffered = 0;

  // Registers with the loop, after connect(2) was begun.
  bool start();
  // The connection is idle and is given a request. Its answer goes to `sink`.
  http::ClientStream& attach(http::ResponseSink& sink, bool to_head, bool to_connect);
  bool isIdle() const { return state_ == State::Idle; }
  bool isEstablished() const { return connected_at_us_ != 0; }
  uint64_t connectedAtMicros() const { return connected_at_us_; }
  uint64_t startedAtMicros() const { return started_at_us_; }
  uint32_t requestCount() const { return requests_; }
  uint64_t receivedBytes() const { return read_bytes_; }
  uint64_t sentBytes() const { return written_bytes_; }
  // Asks the kernel once.
  const net::Address& localAddress();
  // Ends it now. onClosed(Local) is told.
  void abort(ClientCallbacks::CloseReason reason);

  // http::ClientStream
  void sendHead(const http::RequestOut& head, bool end) override;
  void sendData(std::string_view data, bool end) override;
  void sendTrailers(http::HeaderMap* trailers) override;
  void flush() override;
  void reset() override;
  bool isOverHighWatermark() const override { return Connection::isOverHighWatermark(); }
  void pauseReading() override { Connection::pauseReading(); }
  void resumeReading() override { Connection::resumeReading(); }
  uint64_t spliceableBytes() const override;
  int spliceFd() override { return fd(); }
  void beginSplice() override { splicing_ = true; }
  void onSpliced(size_t bytes) override;
  void markUnreadable() override { Connection::markUnreadable(); }
  void failSplice() override { onPeerEnd(); }

 private:
  enum class State : uint8_t { Connecting, Idle, Head, Body, Raw, Closed };

  void onReadable() override;
  void onBelowLowWatermark() override;
  void onDrained() override;
  void onWriteFailed() override;
  bool onFirstEvent(uint32_t events) override;
  void onTimer() override;

  void becomeIdle();
  bool isWorthScanning(size_t bytes_before) const;
  void consume(char* data, size_t size);
  size_t consumeHead(char* data, size_t size);
  size_t consumeBody(char* data, size_t size);
  size_t consumeTrailers(char* data, size_t size);
  void answerComplete();
  void onPeerEnd();
  void protocolError();
  void fail(http::ResetReason reason, std::string_view details, ClientCallbacks::CloseReason why);
  void watch(net::Millis deadline);
  void countBytes();

  PooledNode node_;
  const ClientSettings& settings_;
  net::OutBatch& batch_;
  http::ResponseHead& scratch_;
  ClientCallbacks& callbacks_;
  http::ResponseSink* sink_ = nullptr;
  // The sink's; null when there is none.
  http::ByteMeter* meter_ = nullptr;
  std::unique_ptr<std::string> leftover_;
  // Of leftover_, when it was last scanned.
  uint32_t scanned_bytes_ = 0;
  net::Millis deadline_ = net::kNever;
  // max_duration_ms: no request is sent from here on.
  net::Millis duration_end_ = net::kNever;
  uint64_t started_at_us_;
  uint64_t connected_at_us_ = 0;
  uint64_t body_remaining_ = 0;
  uint64_t counted_read_ = 0;
  uint64_t counted_written_ = 0;
  uint32_t requests_ = 0;
  ChunkDecoder chunks_;
  net::Address local_address_;
  State state_ = State::Connecting;
  OutBody out_body_ = OutBody::None;
  BodyFraming::Kind framing_ = BodyFraming::Kind::None;
  bool in_trailers_ = false;
  bool to_head_ = false;
  bool to_connect_ = false;
  bool keep_alive_ = true;
  bool close_notified_ = false;
  bool excess_ = false;  // Bytes came after the end of the answer.
  bool request_done_ = false;
  bool splicing_ = false;
};

}  // namespace fairlead::http1
