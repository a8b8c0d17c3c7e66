#include "filters/network/direct_response.h"

#include "format/context.h"

namespace fairlead::filters {

namespace {

// Clients that never close their side are left after this long.
constexpr net::Millis kLingerMs = 1000;

class Answer final : public net::Connection, public net::DownstreamConnection, private net::Timer {
 public:
  Answer(net::Loop& loop, net::AcceptedSocket socket, net::ConnectionAccounts& accounts)
      : Connection(loop, std::move(socket.fd), UINT32_MAX),
        DownstreamConnection(accounts, std::move(socket.remote), std::move(socket.local),
                             socket.id) {}

  bool start(net::OutBatch& batch, std::string_view body) {
    if (!loop().add(fd(), this)) {
      finish();
      return false;
    }
    batch.claim(this);
    batch.addView(body);
    size_ = body.size();
    send(batch);
    endWriting();
    loop().timers().arm(this, loop().now() + kLingerMs);
    return true;
  }
  void abort() override { finish(); }
  void describe(format::FormatContext* context) const override {
    context->bytes_sent = size_ - pendingBytes();
    context->details = "direct_response";
  }

 private:
  size_t size_ = 0;

  // What the client says is thrown away; closing with it unread would reset the answer.
  void onReadable() override {
    while (isOpen() && isReadable()) {
      const Read got = read();
      if (got.result == ReadResult::Nothing) return;
      if (got.result != ReadResult::Data) finish();
    }
  }
  void onWriteFailed() override { finish(); }
  void onTimer() override { finish(); }

  void finish() {
    if (!isOpen()) return;
    Timer::disarm();
    leaveListener();
    close();
  }
};

}  // namespace

net::DownstreamConnection* DirectResponse::accept(net::AcceptedSocket socket,
                                                  net::ConnectionAccounts& accounts) {
  auto* connection = new Answer(loop_, std::move(socket), accounts);
  return connection->start(batch_, body_) ? connection : nullptr;
}

}  // namespace fairlead::filters
