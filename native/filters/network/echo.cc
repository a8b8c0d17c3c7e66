#include "filters/network/echo.h"

#include "format/context.h"

namespace fairlead::filters {

namespace {

class EchoConnection final : public net::Connection, public net::DownstreamConnection {
 public:
  EchoConnection(net::Loop& loop, net::OutBatch& batch, uint32_t buffer_limit_bytes,
                 net::AcceptedSocket socket, net::ConnectionAccounts& accounts)
      : Connection(loop, std::move(socket.fd), buffer_limit_bytes),
        DownstreamConnection(accounts, std::move(socket.remote), std::move(socket.local),
                             socket.id),
        batch_(batch) {}

  void abort() override { finish(); }
  void describe(format::FormatContext* context) const override {
    context->bytes_received = received_;
    context->bytes_sent = received_ - pendingBytes();
  }

 private:
  void onReadable() override {
    while (isOpen() && isReadable() && !isReadingPaused()) {
      const Read got = read();
      if (got.result == ReadResult::Nothing) return;
      if (got.result != ReadResult::Data) {
        ended_ = true;
        if (pendingBytes() == 0) finish();
        return;
      }
      received_ += got.size;
      batch_.claim(this);
      batch_.addView({got.data, got.size});
      send(batch_);
      if (isOverHighWatermark()) pauseReading();
    }
  }
  void onBelowLowWatermark() override {
    if (isReadingPaused()) resumeReading();
  }
  void onDrained() override {
    if (ended_) {
      finish();
    } else if (isReadingPaused()) {
      resumeReading();
    }
  }
  void onWriteFailed() override { finish(); }

  void finish() {
    if (!isOpen()) return;
    leaveListener();
    close();
  }

  net::OutBatch& batch_;
  uint64_t received_ = 0;
  bool ended_ = false;
};

}  // namespace

net::DownstreamConnection* Echo::accept(net::AcceptedSocket socket,
                                        net::ConnectionAccounts& accounts) {
  auto* connection =
      new EchoConnection(loop_, batch_, buffer_limit_bytes_, std::move(socket), accounts);
  if (loop_.add(connection->fd(), connection)) return connection;
  connection->abort();
  return nullptr;
}

}  // namespace fairlead::filters
