#include "net/proxy_protocol_transport.h"

#include <sys/socket.h>

#include <string>
#include <utility>

#include "net/connection.h"
#include "net/proxy_header_text.h"
#include "net/wrapping_transport.h"

namespace fairlead::net {

namespace {

Address peerAddress(int fd) {
  sockaddr_storage storage;
  socklen_t size = sizeof(storage);
  auto* raw = reinterpret_cast<sockaddr*>(&storage);
  return ::getpeername(fd, raw, &size) == 0 ? Address::fromKernel(raw, size) : Address();
}

// Beneath one connection; its worker's thread.
class ProxyProtocolTransport final : public WrappingTransport {
 public:
  // `header`: empty: a line of version 1 with the connection's own addresses.
  ProxyProtocolTransport(std::string header, std::unique_ptr<Transport> inner)
      : WrappingTransport(std::move(inner)), header_(std::move(header)) {}

  Handshake handshake(int fd) override {
    if (!is_sent_) {
      if (header_.empty()) header_ = proxyHeaderV1(connection_->localAddress(), peerAddress(fd));
      // In the clear, whatever comes after it.
      const Handshake sent = sendRest(header_, [fd](const char* data, size_t size) {
        return ::send(fd, data, size, MSG_NOSIGNAL);
      });
      if (sent != Handshake::Done) return sent;
      is_sent_ = true;
    }
    return inner_ ? inner_->handshake(fd) : Handshake::Done;
  }

 private:
  std::string header_;
  bool is_sent_ = false;
};

}  // namespace

std::unique_ptr<Transport> ProxyProtocolTransports::make(const TransportTarget& target) const {
  std::string header;
  if (plan_.is_version_2) {
    ProxyHeaderV2 made = proxyHeaderV2(target.client, plan_);
    if (made.lacks_values) {
      using Counter = stats::UpstreamProxyProtocol::Counter;
      stats_->shard(target.worker + 1)->add(Counter::V2TlvsExceedMaxLength);
    }
    header = std::move(made.bytes);
  } else if (target.client) {
    header = proxyHeaderV1(target.client->source, target.client->destination);
  }
  return std::make_unique<ProxyProtocolTransport>(std::move(header), makeTransport(inner_, target));
}

}  // namespace fairlead::net
