// A side that is a socket: what is read here is copied to the other side while it is little, and
// spliced past user space while it is much. The worker's thread.
#pragma once

#include <memory>
#include <string>

#include "net/received_bytes.h"
#include "net/splice.h"
#include "tcp/side.h"

namespace fairlead::tcp {

class SocketSide final : public Side, private net::ConnectionHandler {
 public:
  SocketSide(net::Connection& connection, net::OutBatch& batch, net::SplicePipes& pipes,
             SideCallbacks& callbacks)
      : Side(callbacks), connection_(connection), batch_(batch), pipes_(pipes) {
    connection_.setHandler(*this);
  }

  // Registers with the loop. False: the kernel refuses.
  bool start() { return connection_.start(); }
  std::string_view transportFailure() const { return connection_.transportFailure(); }
  net::SharedTlsInfo tls() const { return connection_.tls(); }
  // Null: a raw socket.
  const net::Transport* transport() const { return connection_.transport(); }
  uint64_t roundTripMs() const { return over_ ? 0 : net::roundTripMs(connection_.fd()); }
  net::Address localAddress() const { return connection_.localAddress(); }

  // What comes is kept until there is another side, up to so many bytes, and the last read beyond.
  void keepEarly(size_t limit) { early_ = std::make_unique<Early>(Early{{}, limit}); }
  // None: nothing has come, or it is not kept.
  size_t earlyBytes() const { return early_ ? early_->bytes.size() : 0; }
  // To the other side, which is there now.
  void passEarly();

  // Side
  void end(net::Connection::CloseKind kind) override;
  bool wasReset() const override { return connection_.wasReset(); }
  void pauseReading() override { connection_.pauseReading(); }
  void resumeReading() override { connection_.resumeReading(); }
  uint64_t readBytes() const override { return connection_.readBytes(); }
  size_t pendingBytes() const override {
    if (over_) return 0;
    connection_.settle();
    return connection_.pendingBytes();
  }
  bool wouldLose() const override {
    return pendingBytes() > 0 || (!over_ && net::hasUnsent(connection_.fd()));
  }
  void write(std::string_view data) override;
  void flush() override;
  void endWriting() override { connection_.endWriting(); }
  bool isOverHighWatermark() const override { return connection_.isOverHighWatermark(); }
  net::Connection* raw() override { return connection_.transport() ? nullptr : &connection_; }
  // A splice waited for that.
  void onOtherWritable() override {
    if (splice_) connection_.readSoon();
  }

 private:
  // net::ConnectionHandler
  void onReady(int error) override { callbacks_.onConnectResult(*this, error); }
  void onReadable() override;
  void onBelowLowWatermark() override { resumeOther(); }
  void onDrained() override;
  void onWritable() override;
  void onWriteFailed() override { fail(); }

  struct Early {
    std::string bytes;
    size_t limit;
    bool is_full = false;
    bool has_ended = false;
  };

  void stopReading() override { splice_.reset(); }
  void readEarly();
  void copyOn(const net::Connection::Read& got);
  // False: nothing more can be moved now.
  bool spliceOn();
  bool mayReadOn() const;
  bool canSplice() { return raw() && other_->raw(); }
  void readEnd();

  net::Connection& connection_;  // Open until over_; gone with the turn of that.
  net::OutBatch& batch_;
  net::SplicePipes& pipes_;
  std::unique_ptr<net::Splice> splice_;
  // Null: nothing is read before there is another side.
  std::unique_ptr<Early> early_;
};

}  // namespace fairlead::tcp
