// What a transport that says something of its own first has in common with others: after that,
// bytes go through another transport, or a raw socket, as they are. Beneath one connection; its
// worker's thread.
#pragma once

#include <sys/socket.h>

#include <cerrno>
#include <memory>
#include <string>
#include <utility>

#include "net/transport.h"

namespace fairlead::net {

class WrappingTransport : public Transport {
 public:
  // `inner`: null: a raw socket.
  explicit WrappingTransport(std::unique_ptr<Transport> inner) : inner_(std::move(inner)) {}

  void attach(Connection& connection) override {
    connection_ = &connection;
    if (inner_) inner_->attach(connection);
  }

  bool holdsBack() const override { return inner_ && inner_->holdsBack(); }

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
  std::string_view failure() const override {
    return inner_ ? inner_->failure() : std::string_view();
  }

 protected:
  // Sends what is left of `text`, by `write(data, size)`, and takes out what has left.
  template <typename Write>
  static Handshake sendRest(std::string& text, Write write) {
    while (!text.empty()) {
      const ssize_t sent = write(text.data(), text.size());
      if (sent < 0) {
        return errno == EAGAIN || errno == EINTR ? Handshake::Waiting : Handshake::Failed;
      }
      text.erase(0, static_cast<size_t>(sent));
    }
    // An idle connection has no buffers.
    std::string().swap(text);
    return Handshake::Done;
  }

  Transport* inner() const { return inner_.get(); }
  // Before it is attached.
  void setInner(std::unique_ptr<Transport> inner) { inner_ = std::move(inner); }

  std::unique_ptr<Transport> inner_;
  Connection* connection_ = nullptr;
};

}  // namespace fairlead::net
