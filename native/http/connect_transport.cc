#include "http/connect_transport.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "net/connection.h"
#include "net/wrapping_transport.h"

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
class ConnectTransport final : public net::WrappingTransport {
 public:
  ConnectTransport(std::string head, std::unique_ptr<net::Transport> inner)
      : WrappingTransport(std::move(inner)), head_(std::move(head)) {}

  Handshake handshake(int fd) override {
    if (inner_ && !inner_is_done_) {
      const Handshake carried = inner_->handshake(fd);
      if (carried != Handshake::Done) return carried;
      inner_is_done_ = true;
    }
    const Handshake sent = sendRest(head_, [this, fd](char* data, size_t size) {
      const iovec part{data, size};
      return write(fd, &part, 1);
    });
    if (sent != Handshake::Done) return sent;
    return readAnswer(fd);
  }

  ssize_t read(int fd, char* to, size_t room) override {
    if (rest_.empty()) return WrappingTransport::read(fd, to, room);
    const size_t size = std::min(room, rest_.size());
    std::memcpy(to, rest_.data(), size);
    rest_.erase(0, size);
    // An idle connection has no buffers.
    if (rest_.empty()) std::string().swap(rest_);
    return static_cast<ssize_t>(size);
  }

  std::string_view failure() const override { return failure_; }

 private:
  Handshake readAnswer(int fd) {
    for (;;) {
      const size_t before = rest_.size();
      rest_.resize(before + kReadBytes);
      const ssize_t got = WrappingTransport::read(fd, rest_.data() + before, kReadBytes);
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
  bool inner_is_done_ = false;
};

}  // namespace

std::unique_ptr<net::Transport> makeConnectTransport(std::string head,
                                                     std::unique_ptr<net::Transport> inner) {
  return std::make_unique<ConnectTransport>(std::move(head), std::move(inner));
}

}  // namespace fairlead::http
