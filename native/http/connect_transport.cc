#include "http/connect_transport.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "http/connect_answer.h"
#include "net/connection.h"
#include "net/wrapping_transport.h"

namespace fairlead::http {

namespace {

// Of an answer's head.
constexpr size_t kMaxAnswerBytes = 60 * 1024;
constexpr size_t kReadBytes = 4096;

// Of one connection; its worker's thread.
class ConnectTransport final : public net::WrappingTransport {
 public:
  ConnectTransport(std::string head, std::unique_ptr<net::Transport> inner,
                   std::shared_ptr<ConnectAnswer> answer)
      : WrappingTransport(std::move(inner)), head_(std::move(head)), answer_(std::move(answer)) {}

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
    if (answer_ && !std::exchange(answer_->is_asked, true) && answer_->on_asked) {
      answer_->on_asked();
    }
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
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) return Handshake::Waiting;
        if (answer_) {
          answer_->head = rest_;
          answer_->is_broken = got == 0 && !rest_.empty();
        }
        return Handshake::Failed;
      }
      size_t looked_at = before;
      while (const size_t head_bytes = connectHeadBytes(rest_, looked_at)) {
        const unsigned status = connectStatus({rest_.data(), head_bytes});
        if (isInterim(status)) {
          if (answer_) answer_->interim.append(rest_, 0, head_bytes);
          rest_.erase(0, head_bytes);
          looked_at = 0;
          continue;
        }
        return finish(status, head_bytes);
      }
      const size_t kept = rest_.size() + (answer_ ? answer_->interim.size() : 0);
      if (kept > kMaxAnswerBytes) return finish(0, rest_.size());
    }
  }

  Handshake finish(unsigned status, size_t head_bytes) {
    if (answer_) {
      answer_->head.assign(rest_, 0, status / 100 == 2 ? head_bytes : rest_.size());
      answer_->is_broken = status == 0;
    }
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
  const std::shared_ptr<ConnectAnswer> answer_;
  bool inner_is_done_ = false;
};

}  // namespace

std::unique_ptr<net::Transport> makeConnectTransport(std::string head,
                                                     std::unique_ptr<net::Transport> inner,
                                                     std::shared_ptr<ConnectAnswer> answer) {
  return std::make_unique<ConnectTransport>(std::move(head), std::move(inner), std::move(answer));
}

}  // namespace fairlead::http
