#include "http/http11_proxy_transport.h"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <utility>

#include "http/connect_answer.h"
#include "net/connection.h"
#include "net/wrapping_transport.h"

namespace fairlead::http {

namespace {

// Of an answer's head. It is looked at where it is, in the kernel, so that what follows it stays
// there for whoever reads the socket then.
constexpr size_t kMaxHeadBytes = 8 * 1024;

// "CONNECT host:port HTTP/1.1" and its lines, as the real server writes them.
std::string connectHead(const net::TransportTarget& target) {
  const net::Address& address = *target.address;
  std::string authority(target.host_name);
  if (authority.empty()) {
    authority = address.text();
  } else {
    authority.append(":").append(std::to_string(address.port()));
  }
  return "CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\n\r\n";
}

// Of one connection; its worker's thread.
class Http11ProxyTransport final : public net::WrappingTransport {
 public:
  Http11ProxyTransport(std::string head, std::unique_ptr<net::Transport> inner)
      : WrappingTransport(std::move(inner)), head_(std::move(head)) {}

  Handshake handshake(int fd) override {
    if (!is_granted_) {
      const Handshake sent = sendRest(head_, [fd](const char* data, size_t size) {
        return ::send(fd, data, size, MSG_NOSIGNAL);
      });
      if (sent != Handshake::Done) return sent;
      const Handshake answered = takeAnswer(fd);
      if (answered != Handshake::Done) return answered;
      is_granted_ = true;
    }
    return inner_ ? inner_->handshake(fd) : Handshake::Done;
  }

 private:
  Handshake takeAnswer(int fd) {
    for (;;) {
      char bytes[kMaxHeadBytes];
      const ssize_t got = ::recv(fd, bytes, sizeof(bytes), MSG_PEEK);
      if (got <= 0) {
        const bool waits = got < 0 && (errno == EAGAIN || errno == EINTR);
        return waits ? Handshake::Waiting : Handshake::Failed;
      }
      const std::string_view seen(bytes, static_cast<size_t>(got));
      const size_t head_bytes = connectHeadBytes(seen);
      if (head_bytes == 0) {
        return seen.size() == sizeof(bytes) ? Handshake::Failed : Handshake::Waiting;
      }
      ::recv(fd, bytes, head_bytes, 0);
      const unsigned status = connectStatus(seen);
      if (isInterim(status)) continue;
      if (status / 100 != 2) return Handshake::Failed;
      // What came along with it has had its event.
      if (seen.size() > head_bytes) connection_->wake(EPOLLIN);
      return Handshake::Done;
    }
  }

  // What of it is still to be sent.
  std::string head_;
  bool is_granted_ = false;
};

}  // namespace

std::unique_ptr<net::Transport> Http11ProxyTransports::make(
    const net::TransportTarget& target) const {
  std::unique_ptr<net::Transport> inner = net::makeTransport(inner_, target);
  const bool asks = target.proxy || (proxy_ && isTls());
  if (!asks) return inner;
  return std::make_unique<Http11ProxyTransport>(connectHead(target), std::move(inner));
}

}  // namespace fairlead::http
