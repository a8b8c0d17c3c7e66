#include "filters/network/direct_response.h"

#include <string_view>

#include "format/context.h"

namespace fairlead::filters {

namespace {

// Clients that never close their side are left after this long.
constexpr net::Millis kLingerMs = 1000;

class Answer final : public net::DownstreamConnection,
                     public net::Mortal,
                     private net::ConnectionHandler,
                     private net::Timer {
 public:
  Answer(net::Loop& loop, const net::SharedTransport& transport, unsigned worker,
         std::string_view chain_name, net::AcceptedSocket socket, net::ConnectionAccounts& accounts)
      : DownstreamConnection(accounts, socket),
        connection_(*new net::Connection(
            loop, std::move(socket.fd), UINT32_MAX, net::Connection::Start::Established,
            makeTransport(transport, {.worker = worker, .owner = this}))),
        chain_name_(chain_name) {
    connection_.setHandler(*this);
    setTls(connection_.tls());
  }

  bool start(net::OutBatch& batch, std::string_view body) {
    if (!connection_.start()) {
      finish();
      return false;
    }
    batch.claim(connection_);
    batch.addView(body);
    size_ = body.size();
    connection_.send(batch);
    connection_.endWriting();
    if (!connection_.transport()) armLinger();
    return true;
  }
  void abort() override { finish(); }
  void describe(format::FormatContext* context) const override {
    context->bytes_sent = size_ - connection_.pendingBytes();
    context->details = "direct_response";
    context->filter_chain_name = chain_name_;
  }

 private:
  // What the client says is thrown away; closing with it unread would reset the answer.
  void onReady(int error) override {
    if (error != 0) {
      finish();
    } else {
      armLinger();
    }
  }
  void onReadable() override {
    while (!over_ && connection_.isReadable()) {
      const net::Connection::Read got = connection_.read();
      if (got.result == net::Connection::ReadResult::Nothing) return;
      if (got.result != net::Connection::ReadResult::Data) finish();
    }
  }
  void onWriteFailed() override { finish(); }
  void onTimer() override { finish(); }

  void armLinger() {
    net::Loop& loop = connection_.loop();
    loop.timers().arm(this, loop.now() + kLingerMs);
  }
  void finish() {
    if (std::exchange(over_, true)) return;
    Timer::disarm();
    leaveListener();
    connection_.close();
    connection_.loop().bury(std::unique_ptr<Mortal>(this));
  }

  net::Connection& connection_;        // Open until over_; gone with the turn of that.
  const std::string_view chain_name_;  // The factory's.
  size_t size_ = 0;
  bool over_ = false;
};

}  // namespace

net::DownstreamConnection* DirectResponse::accept(net::AcceptedSocket socket,
                                                  net::ConnectionAccounts& accounts) {
  auto* connection =
      new Answer(loop_, transport_, worker_, chain_name_, std::move(socket), accounts);
  return connection->start(batch_, body_) ? connection : nullptr;
}

}  // namespace fairlead::filters
