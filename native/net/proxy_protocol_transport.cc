#include "net/proxy_protocol_transport.h"

#include <sys/socket.h>

#include <optional>
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
  // What is said once the connection is there: values of version 2 are of its own addresses.
  struct Later {
    std::shared_ptr<const ProxyProtocolTransports> maker;
    std::optional<ProxiedClient> client;
    unsigned worker;
  };

  // `header`: empty: `later` makes it, or else it is a line of version 1 with the connection's own
  // addresses.
  ProxyProtocolTransport(std::string header, std::unique_ptr<Later> later,
                         stats::Shard<stats::Cluster>& stats, std::unique_ptr<Transport> inner)
      : WrappingTransport(std::move(inner)),
        header_(std::move(header)),
        later_(std::move(later)),
        stats_(stats) {}

  Handshake handshake(int fd) override {
    if (!is_sent_) {
      if (header_.empty()) header_ = makeHeader(fd);
      // In the clear, whatever comes after it.
      const Handshake sent = sendRest(header_, [this, fd](const char* data, size_t size) {
        const ssize_t done = ::send(fd, data, size, MSG_NOSIGNAL);
        if (done > 0) stats_.add(stats::Cluster::Counter::UpstreamCxTxBytesTotal, done);
        return done;
      });
      if (sent != Handshake::Done) return sent;
      is_sent_ = true;
      later_.reset();
    }
    return inner_ ? inner_->handshake(fd) : Handshake::Done;
  }

 private:
  std::string makeHeader(int fd) const {
    const Address local = connection_->localAddress();
    if (!later_) return proxyHeaderV1(local, peerAddress(fd));
    const ProxiedClient* const client = later_->client ? &*later_->client : nullptr;
    return later_->maker->headerV2(client, later_->worker, local, peerAddress(fd));
  }

  std::string header_;
  std::unique_ptr<Later> later_;
  stats::Shard<stats::Cluster>& stats_;
  bool is_sent_ = false;
};

}  // namespace

std::string ProxyProtocolTransports::headerV2(const ProxiedClient* client, unsigned worker,
                                              const Address& local, const Address& remote) const {
  auto values = formats_ ? formats_->values(local, remote) : std::vector<std::string>();
  ProxyHeaderV2 made = proxyHeaderV2(client, plan_, values);
  if (made.lacks_values) {
    using Counter = stats::UpstreamProxyProtocol::Counter;
    stats_->shard(worker + 1)->add(Counter::V2TlvsExceedMaxLength);
  }
  return std::move(made.bytes);
}

std::unique_ptr<Transport> ProxyProtocolTransports::make(const TransportTarget& target) const {
  std::string header;
  std::unique_ptr<ProxyProtocolTransport::Later> later;
  if (plan_.is_version_2 && formats_) {
    later.reset(new ProxyProtocolTransport::Later{shared_from_this(), std::nullopt, target.worker});
    if (target.client) later->client = *target.client;
  } else if (plan_.is_version_2) {
    header = headerV2(target.client, target.worker, Address(), Address());
  } else if (target.client) {
    header = proxyHeaderV1(target.client->source, target.client->destination);
  }
  return std::make_unique<ProxyProtocolTransport>(std::move(header), std::move(later),
                                                  *cluster_stats_->shard(target.worker + 1),
                                                  makeTransport(inner_, target));
}

}  // namespace fairlead::net
