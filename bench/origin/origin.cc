// The origin behind every proxy of a comparison: HTTP/1.1, keep-alive, so cheap that what is left
// to see is the proxy. GET /N answers N bytes; an answer is made once per size and sent by one
// write. Requests may come pipelined; whatever is no GET /N ends the connection. A connection that
// begins as HTTP/2 does is http2.h's.
//
//   origin PORT        (0: any free port) prints "PORT\n" when it listens
#include <charconv>
#include <csignal>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bench/origin/http2.h"
#include "bench/support/sockets.h"

namespace fairlead::bench {
namespace {

constexpr size_t kReadBytes = 64 * 1024;
constexpr size_t kLargestBody = 64 * 1024 * 1024;
constexpr int kEventsPerTurn = 512;

// Words as a page has them, so that who compresses them has as much to do as with a page; the same
// each time.
void appendText(size_t bytes, std::string* out) {
  const size_t end = out->size() + bytes;
  out->reserve(end + 16);
  uint32_t seed = 1;
  const auto next = [&seed](uint32_t below) {
    seed = seed * 1664525 + 1013904223;
    return (seed >> 16) % below;
  };
  while (out->size() < end) {
    // Few words come often, many seldom.
    uint32_t word = next(1 + next(2000));
    for (uint32_t letters = 2 + word % 8; letters > 0; --letters) {
      out->push_back(static_cast<char>('a' + word % 26));
      word = word * 31 + 7;
    }
    out->append(next(12) == 0 ? ".\n" : " ");
  }
  out->resize(end);
}

// Every answer ever asked for, kept: a benchmark asks for a handful of sizes.
class Answers {
 public:
  // Lives as long as this.
  const std::string& ofSize(size_t body_bytes) {
    std::string& answer = answers_[body_bytes];
    if (answer.empty()) {
      answer = "HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: " +
               std::to_string(body_bytes) + "\r\n\r\n";
      appendText(body_bytes, &answer);
    }
    return answer;
  }

 private:
  std::unordered_map<size_t, std::string> answers_;
};

struct Connection {
  int fd = -1;
  // A request head, or frame, that has not come to its end.
  std::string partial;
  // Null: it speaks HTTP/1.
  std::unique_ptr<Http2> http2;
  // Answers that wait for the socket, the first of them sent up to sent_bytes.
  std::vector<std::string_view> waiting;
  size_t sent_bytes = 0;
  bool is_closed = false;
};

class Origin {
 public:
  explicit Origin(uint16_t port)
      : epoll_(check(epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
        listener_(listenOn(port)),
        buffer_(new char[kReadBytes]) {
    watch(epoll_, listener_, EPOLLIN | EPOLLET, nullptr);
  }

  uint16_t port() const { return boundPort(listener_); }

  [[noreturn]] void run() {
    std::vector<epoll_event> events(kEventsPerTurn);
    for (;;) {
      const int count = epoll_wait(epoll_, events.data(), kEventsPerTurn, -1);
      for (int i = 0; i < count; ++i) {
        auto* connection = static_cast<Connection*>(events[i].data.ptr);
        if (connection == nullptr) {
          acceptAll();
        } else {
          onEvent(*connection, events[i].events);
        }
      }
      closed_.clear();
    }
  }

 private:
  void acceptAll() {
    for (int fd; (fd = acceptFrom(listener_)) >= 0;) {
      auto* connection = new Connection;
      connection->fd = fd;
      watch(epoll_, fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, connection);
    }
  }

  void onEvent(Connection& connection, uint32_t events) {
    if (connection.is_closed) return;
    if (events & (EPOLLERR | EPOLLHUP | EPOLLRDHUP)) return close(connection);
    if ((events & EPOLLOUT) && !flush(connection)) return close(connection);
    if ((events & EPOLLIN) && !readAll(connection)) close(connection);
  }

  // False: the connection must be closed.
  bool readAll(Connection& connection) {
    for (;;) {
      const ssize_t got = read(connection.fd, buffer_.get(), kReadBytes);
      if (got < 0) return errno == EAGAIN;
      if (got == 0) return false;
      const std::string_view bytes(buffer_.get(), static_cast<size_t>(got));
      if (!onBytes(connection, bytes)) return false;
      if (bytes.size() < kReadBytes) return true;
    }
  }

  bool onBytes(Connection& connection, std::string_view bytes) {
    std::string joined;
    if (!connection.partial.empty()) {
      joined = std::move(connection.partial) + std::string(bytes);
      connection.partial.clear();
      bytes = joined;
    }
    if (!connection.http2 && bytes.starts_with("PRI ")) {
      connection.http2 = std::make_unique<Http2>();
    }
    if (connection.http2) return onFrames(connection, bytes);
    for (;;) {
      const size_t end = bytes.find("\r\n\r\n");
      if (end == std::string_view::npos) break;
      const std::string* answer = answerTo(bytes.substr(0, end));
      if (answer == nullptr) return false;
      connection.waiting.push_back(*answer);
      bytes.remove_prefix(end + 4);
    }
    connection.partial = bytes;
    return flush(connection);
  }

  bool onFrames(Connection& connection, std::string_view bytes) {
    const ptrdiff_t used = connection.http2->receive(bytes);
    if (used < 0) return false;
    connection.partial = bytes.substr(static_cast<size_t>(used));
    return flushFrames(connection);
  }

  bool flushFrames(Connection& connection) {
    std::string& out = connection.http2->out;
    while (!out.empty()) {
      const ssize_t sent = send(connection.fd, out.data(), out.size(), MSG_NOSIGNAL);
      if (sent < 0) return errno == EAGAIN;
      out.erase(0, static_cast<size_t>(sent));
      connection.http2->fill();
    }
    return true;
  }

  // Null when the request is none of ours.
  const std::string* answerTo(std::string_view head) {
    if (!head.starts_with("GET /")) return nullptr;
    size_t body_bytes = 0;
    const auto [rest, error] =
        std::from_chars(head.data() + 5, head.data() + head.size(), body_bytes);
    if (error != std::errc() || *rest != ' ' || body_bytes > kLargestBody) return nullptr;
    return &answers_.ofSize(body_bytes);
  }

  bool flush(Connection& connection) {
    if (connection.http2) return flushFrames(connection);
    size_t done = 0;
    while (done < connection.waiting.size()) {
      const std::string_view rest = connection.waiting[done].substr(connection.sent_bytes);
      const ssize_t sent = send(connection.fd, rest.data(), rest.size(), MSG_NOSIGNAL);
      if (sent < 0) {
        if (errno != EAGAIN) return false;
        break;
      }
      connection.sent_bytes += static_cast<size_t>(sent);
      if (static_cast<size_t>(sent) < rest.size()) continue;
      connection.sent_bytes = 0;
      ++done;
    }
    connection.waiting.erase(connection.waiting.begin(), connection.waiting.begin() + done);
    return true;
  }

  void close(Connection& connection) {
    connection.is_closed = true;
    ::close(connection.fd);
    closed_.emplace_back(&connection);
  }

  const int epoll_;
  const int listener_;
  const std::unique_ptr<char[]> buffer_;
  Answers answers_;
  // Freed at the end of the turn: events of the same batch may still name them.
  std::vector<std::unique_ptr<Connection>> closed_;
};

}  // namespace
}  // namespace fairlead::bench

int main(int argc, char** argv) {
  using namespace fairlead::bench;
  if (argc != 2) {
    std::fprintf(stderr, "usage: origin PORT\n");
    return 2;
  }
  std::signal(SIGPIPE, SIG_IGN);
  raiseDescriptorLimit();
  Origin origin(portArgument(argv[1]));
  std::printf("%u\n", origin.port());
  std::fflush(stdout);
  origin.run();
}
