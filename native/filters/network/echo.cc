#include "filters/network/echo.h"

#include <string_view>

#include "format/context.h"

namespace fairlead::filters {

namespace {

class EchoConnection final : public net::DownstreamConnection,
                             public net::Mortal,
                             private net::ConnectionHandler {
 public:
  EchoConnection(net::Loop& loop, net::OutBatch& batch, uint32_t buffer_limit_bytes,
                 const net::SharedTransport& transport, unsigned worker,
                 std::string_view chain_name, net::AcceptedSocket socket,
                 net::ConnectionAccounts& accounts)
      : DownstreamConnection(accounts, socket),
        connection_(*new net::Connection(
            loop, std::move(socket.fd), buffer_limit_bytes, net::Connection::Start::Established,
            makeTransport(transport, {.worker = worker, .owner = this}))),
        batch_(batch),
        chain_name_(chain_name) {
    connection_.setHandler(*this);
    setTls(connection_.tls());
  }

  bool start(net::Millis slow_timeout_ms) {
    connection_.limitSlowness(slow_timeout_ms);
    if (connection_.start()) return true;
    finish();
    return false;
  }
  void abort() override { finish(); }
  void describe(format::FormatContext* context) const override {
    if (!refusal().empty()) {
      context->flags.set(format::ResponseFlag::UnauthorizedExternalService);
      context->details = refusal();
    }
    // What filters before it have refused came as well.
    context->bytes_received = connection_.readBytes();
    context->bytes_sent = received_ - connection_.pendingBytes();
    context->filter_chain_name = chain_name_;
  }

 private:
  void onReady(int error) override {
    if (error != 0) finish();
  }
  void onReadable() override {
    while (!over_ && connection_.isReadable() && !connection_.isReadingPaused()) {
      const net::Connection::Read got = connection_.read();
      if (got.result == net::Connection::ReadResult::Nothing) return;
      if (got.result != net::Connection::ReadResult::Data) {
        ended_ = true;
        if (connection_.pendingBytes() == 0) finish();
        return;
      }
      received_ += got.size;
      batch_.claim(connection_);
      batch_.addView({got.data, got.size});
      connection_.send(batch_);
      if (connection_.isOverHighWatermark()) connection_.pauseReading();
    }
  }
  void onBelowLowWatermark() override { resume(); }
  void onDrained() override {
    if (ended_) {
      finish();
    } else {
      resume();
    }
  }
  void onWriteFailed() override { finish(); }

  void resume() {
    if (connection_.isReadingPaused()) connection_.resumeReading();
  }
  void finish() {
    if (std::exchange(over_, true)) return;
    leaveListener();
    connection_.close();
    connection_.loop().bury(std::unique_ptr<Mortal>(this));
  }

  net::Connection& connection_;  // Open until over_; gone with the turn of that.
  net::OutBatch& batch_;
  const std::string_view chain_name_;  // The factory's.
  uint64_t received_ = 0;
  bool ended_ = false;
  bool over_ = false;
};

}  // namespace

net::DownstreamConnection* Echo::accept(net::AcceptedSocket socket,
                                        net::ConnectionAccounts& accounts) {
  auto* connection = new EchoConnection(loop_, batch_, buffer_limit_bytes_, transport_, worker_,
                                        chain_name_, std::move(socket), accounts);
  return connection->start(slow_timeout_ms_) ? connection : nullptr;
}

}  // namespace fairlead::filters
