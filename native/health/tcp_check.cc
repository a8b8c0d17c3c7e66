#include "health/tcp_check.h"

#include <utility>

#include "health/payload.h"
#include "net/proxy_header_text.h"

namespace fairlead::health {

void TcpCheck::begin() {
  received_.clear();
  if (connection_) {
    send();
    return;
  }
  int error = 0;
  connection_ = connect(&error);
  if (!connection_) {
    fail(Failure::Network);
    return;
  }
  connection_->setHandler(*this);
}

void TcpCheck::onReady(int error) {
  if (error != 0) {
    lose();
    return;
  }
  if (!plan().receive.empty()) {
    introduce();
    send();
    return;
  }
  // Nothing else is asked for.
  close();
  succeed(false);
}

// As the real server: of this proxy's own connection, without any values.
void TcpCheck::introduce() {
  if (!plan().proxy_protocol) return;
  const std::string header =
      plan().proxy_protocol->is_version_2
          ? net::proxyHeaderV2(nullptr, *plan().proxy_protocol).bytes
          : net::proxyHeaderV1(connection_->localAddress(), connection_->remoteAddress());
  connection_->queue(header);
}

void TcpCheck::send() {
  if (!plan().send.empty()) connection_->queue(plan().send);
}

void TcpCheck::onReadable() {
  while (connection_) {
    const net::Connection::Read read = connection_->read();
    using Result = net::Connection::ReadResult;
    if (read.result == Result::Nothing) return;
    if (read.result != Result::Data) {
      lose();
      return;
    }
    received_.append(read.data, read.size);
    if (received_.size() > kMostBytes) {
      lose();
      return;
    }
    if (plan().receive.empty() || !hasAll(received_, plan().receive)) continue;
    received_.clear();
    if (!isUnderWay()) continue;
    if (!plan().reuses_connection) close();
    succeed(false);
  }
}

void TcpCheck::onWriteFailed() { lose(); }

void TcpCheck::lose() {
  close();
  fail(Failure::Network);
}

void TcpCheck::close() {
  if (net::Connection* connection = std::exchange(connection_, nullptr)) connection->close();
}

}  // namespace fairlead::health
