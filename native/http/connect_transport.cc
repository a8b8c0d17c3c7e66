#include "http/connect_transport.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "net/connection.h"

namespace fairlead::http {

namespace {

// Of an answer's head.
constexpr size_t kMaxAnswerBytes = 60 * 1024;
constexpr size_t kReadBytes = 4096;

// "HTTP/1.1 200 OK": the status; 0: it is no status line.
unsigned statusOf(std::string_view head) {
  if (!head.starts_with("HTTP/1.") || head.size() < 12 || head[8] != ' ') return 0;
  unsigned status = 0;
  for (const char c : head.substr(9, 3)) {
    if (c < '0' || c > '9') return 0;
    status = status * 10 + static_cast<unsigned>(c - '0');
  }
  return status;
}

// Of one connection; its worker's thread.
class ConnectTransport final : public net::Transport {
 public:
  ConnectTransport(std::string head, std::unique_ptr<net::Transport> inner)
      : head_(std::move(head)), inner_(std::move(inner)) {}

  void attach(net::Connection& connection) override {
    connection_ = &connection;
    if (inner_) inner_->attach(connection);
  }

  Handshake handshake(int fd) override {
    if (inner_ && !inner_is_done_) {
      const Handshake carried = inner_->handshake(fd);
      if (carried != Handshake::Done) return carried;
      inner_is_done_ = true;
    }
    while (!head_.empty()) {
      const iovec part{head_.data(), head_.size()};
      const ssize_t sent = writeOn(fd, &part, 1);
      if (sent < 0) {
        return errno == EAGAIN || errno == EINTR ? Handshake::Waiting : Handshake::Failed;
      }
      head_.erase(0, static_cast<size_t>(sent));
    }
    return readAnswer(fd);
  }

  uint32_t onEvents(uint32_t events) override { return inner_ ? inner_->onEvents(events) : events; }

  ssize_t read(int fd, char* to, size_t room) override {
    if (rest_.empty()) return readOn(fd, to, room);
    const size_t size = std::min(room, rest_.size());
    std::memcpy(to, rest_.data(), size);
    rest_.erase(0, size);
    // An idle connection has no buffers.
    if (rest_.empty()) std::string().swap(rest_);
    return static_cast<ssize_t>(size);
  }

  ssize_t write(int fd, const iovec* parts, int count) override {
    return writeOn(fd, parts, count);
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

  net::SharedTlsInfo tls() const override { return inner_ ? inner_->tls() : nullptr; }
  std::string_view failure() const override { return failure_; }

 private:
  ssize_t readOn(int fd, char* to, size_t room) {
    return inner_ ? inner_->read(fd, to, room) : ::recv(fd, to, room, 0);
  }
  ssize_t writeOn(int fd, const iovec* parts, int count) {
    if (inner_) return inner_->write(fd, parts, count);
    msghdr message = {};
    message.msg_iov = const_cast<iovec*>(parts);
    message.msg_iovlen = static_cast<size_t>(count);
    return ::sendmsg(fd, &message, MSG_NOSIGNAL);
  }

  Handshake readAnswer(int fd) {
    for (;;) {
      const size_t before = rest_.size();
      rest_.resize(before + kReadBytes);
      const ssize_t got = readOn(fd, rest_.data() + before, kReadBytes);
      rest_.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
      if (got <= 0) {
        const bool waits = got < 0 && (errno == EAGAIN || errno == EINTR);
        return waits ? Handshake::Waiting : Handshake::Failed;
      }
      while (const size_t head_bytes = headBytes(before)) {
        const unsigned status = statusOf(rest_);
        if (status >= 100 && status < 200 && status != 101) {
          rest_.erase(0, head_bytes);
          continue;
        }
        return finish(status, head_bytes);
      }
      if (rest_.size() > kMaxAnswerBytes) return Handshake::Failed;
    }
  }

  // Up to its empty line; 0: it has not come whole.
  size_t headBytes(size_t looked_at) const {
    constexpr std::string_view kEnd = "\r\n\r\n";
    const size_t from = looked_at < kEnd.size() ? 0 : looked_at - kEnd.size();
    const size_t end = rest_.find(kEnd, std::min(from, rest_.size()));
    return end == std::string::npos ? 0 : end + kEnd.size();
  }

  Handshake finish(unsigned status, size_t head_bytes) {
    if (status / 100 != 2) {
      if (status != 0) failure_ = "tunnel_response:" + std::to_string(status);
      return Handshake::Failed;
    }
    rest_.erase(0, head_bytes);
    if (rest_.empty()) {
      std::string().swap(rest_);
    } else {
      connection_->wake(EPOLLIN);
    }
    return Handshake::Done;
  }

  // What of it is still to be sent.
  std::string head_;
  // Of the answer; then of the bytes that came along with it.
  std::string rest_;
  std::string failure_;
  const std::unique_ptr<net::Transport> inner_;
  net::Connection* connection_ = nullptr;
  bool inner_is_done_ = false;
};

}  // namespace

std::unique_ptr<net::Transport> makeConnectTransport(std::string head,
                                                     std::unique_ptr<net::Transport> inner) {
  return std::make_unique<ConnectTransport>(std::move(head), std::move(inner));
}

}  // namespace fairlead::http
