#include "net/proxy_protocol_transport.h"

#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <utility>

#include "net/connection.h"
#include "net/proxy_header_text.h"

namespace fairlead::net {

namespace {

Address peerAddress(int fd) {
  sockaddr_storage storage;
  socklen_t size = sizeof(storage);
  auto* raw = reinterpret_cast<sockaddr*>(&storage);
  return ::getpeername(fd, raw, &size) == 0 ? Address::fromKernel(raw, size) : Address();
}

// Beneath one connection; its worker's thread.
class ProxyProtocolTransport final : public Transport {
 public:
  // `header`: empty: a line of version 1 with the connection's own addresses.
  ProxyProtocolTransport(std::string header, std::unique_ptr<Transport> inner)
      : header_(std::move(header)), inner_(std::move(inner)) {}

  void attach(Connection& connection) override {
    connection_ = &connection;
    if (inner_) inner_->attach(connection);
  }

  Handshake handshake(int fd) override {
    if (!is_sent_) {
      if (header_.empty()) header_ = proxyHeaderV1(connection_->localAddress(), peerAddress(fd));
      const Handshake sent = sendHeader(fd);
      if (sent != Handshake::Done) return sent;
    }
    return inner_ ? inner_->handshake(fd) : Handshake::Done;
  }

  uint32_t onEvents(uint32_t events) override { return inner_ ? inner_->onEvents(events) : events; }

  ssize_t read(int fd, char* to, size_t room) override {
    return inner_ ? inner_->read(fd, to, room) : ::recv(fd, to, room, 0);
  }

  ssize_t write(int fd, const iovec* parts, int count) override {
    if (inner_) return inner_->write(fd, parts, count);
    msghdr message = {};
    message.msg_iov = const_cast<iovec*>(parts);
    message.msg_iovlen = static_cast<size_t>(count);
    return ::sendmsg(fd, &message, MSG_NOSIGNAL);
  }

  void endWriting(int fd) override {
    if (inner_) {
      inner_->endWriting(fd);
    } else {
      ::shutdown(fd, SHUT_WR);
    }
  }

  void onClose(int fd) override {
    if (inner_) inner_->onClose(fd);
  }

  SharedTlsInfo tls() const override { return inner_ ? inner_->tls() : nullptr; }

 private:
  Handshake sendHeader(int fd) {
    while (!header_.empty()) {
      const ssize_t sent = ::send(fd, header_.data(), header_.size(), MSG_NOSIGNAL);
      if (sent < 0) {
        return errno == EAGAIN || errno == EINTR ? Handshake::Waiting : Handshake::Failed;
      }
      header_.erase(0, static_cast<size_t>(sent));
    }
    // An idle connection has no buffers.
    std::string().swap(header_);
    is_sent_ = true;
    return Handshake::Done;
  }

  std::string header_;
  const std::unique_ptr<Transport> inner_;
  Connection* connection_ = nullptr;
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
