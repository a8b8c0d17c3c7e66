// What HTTP/2 holds while nothing happens: connections between two requests, and requests that
// wait for their answers. Measured by what is allocated; where a sanitizer allocates, nothing is.
#include <malloc.h>
#include <sys/socket.h>

#include <string>
#include <vector>

#include "test/native/http/http2/wire.h"
#include "test/native/proxy/http2_plan.h"
#include "test/native/support/exchange.h"
#include "test/native/support/origin.h"
#include "test/native/support/proxy.h"
#include "test/native/support/rough_transport.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

using namespace http2;

// A request as browsers make it.
TestFields browserRequest(int number) {
  return {{":method", "GET"},
          {":scheme", "http"},
          {":path", "/assets/some/page-" + std::to_string(number) + ".html"},
          {":authority", "www.example.com"},
          {"user-agent", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)"},
          {"accept", "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"},
          {"accept-language", "en-US,en;q=0.9,de;q=0.8"},
          {"accept-encoding", "gzip, deflate, br, zstd"},
          {"sec-ch-ua", "\"Chromium\";v=\"130\", \"Not?A_Brand\";v=\"99\""},
          {"sec-fetch-mode", "navigate"},
          {"cookie", "session=0123456789abcdef0123456789abcdef; theme=dark"},
          {"referer", "https://www.example.com/"}};
}

// A client that owns nothing but its socket, so that what is allocated is the proxy's.
class Client {
 public:
  explicit Client(const Proxy& proxy) : socket_(proxy.connect()) {
    send(std::string(kPreface) + frame(FrameType::Settings, 0, 0, {}) +
         frame(FrameType::Settings, flags::kAck, 0, {}));
  }
  void send(std::string_view bytes) const {
    EXPECT_EQ(::send(socket_.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }
  // Until the stream has ended.
  void awaitAnswer() const {
    char bytes[4096];
    size_t used = 0;
    for (;;) {
      const ssize_t got = ::recv(socket_.fd(), bytes + used, sizeof(bytes) - used, 0);
      if (got <= 0) fail(__FILE__, __LINE__, "no answer came");
      used += static_cast<size_t>(got);
      for (size_t at = 0; at + kFrameHeadBytes <= used;) {
        const FrameHead head = readFrameHead(bytes + at);
        const bool ends = head.type == FrameType::Data && head.has(flags::kEndStream);
        at += kFrameHeadBytes + head.length;
        if (ends && at <= used) return;
      }
    }
  }

 private:
  Socket socket_;
};

size_t allocated() { return ::mallinfo2().uordblks; }

}  // namespace

TEST("an idle HTTP/2 connection holds at most 4 KiB, what it remembers of headers included") {
  if (isRough()) return;
  Origin origin(answering("hello"));
  Proxy proxy(http2Plan(origin.port()));
  constexpr int kFew = 20;
  constexpr int kMany = 120;
  std::vector<Client> clients;
  clients.reserve(kMany);
  // As much as the table takes, and as one page needs.
  for (const int requests : {1, 100}) {
    clients.clear();
    proxy.expectQuiet();
    size_t few = 0;
    while (clients.size() < kMany) {
      const Client& client = clients.emplace_back(proxy);
      BlockWriter blocks;
      for (int i = 0; i < requests; ++i) {
        const auto id = static_cast<uint32_t>(2 * i + 1);
        client.send(blocks.headers(id, browserRequest(i), true));
        client.awaitAnswer();
      }
      if (clients.size() == kFew) few = allocated();
    }
    EXPECT((allocated() - few) / (kMany - kFew) <= 4096);
  }
}

TEST("a request of HTTP/2 that waits for its answer takes at most 2 KiB") {
  if (isRough()) return;
  // Says that it has HTTP/2, and nothing more.
  Origin origin([](Socket& socket, int) {
    socket.write(frame(FrameType::Settings, 0, 0, setting(3, 2000)));
    while (!socket.read().empty()) continue;
  });
  plan::Update update = http2Plan(origin.port());
  update.clusters[0].protocol = plan::Cluster::Protocol::Http2;
  update.clusters[0].http2 = defaultOptions();
  update.clusters[0].http2->max_concurrent_streams = 2000;
  Proxy proxy(update);
  std::vector<Client> clients;
  std::vector<BlockWriter> blocks(10);
  for (size_t i = 0; i < blocks.size(); ++i) clients.emplace_back(proxy);
  const auto askEach = [&](int requests, int first) {
    for (int number = first; number < first + requests; ++number) {
      for (size_t i = 0; i < clients.size(); ++i) {
        const auto id = static_cast<uint32_t>(2 * number + 1);
        clients[i].send(blocks[i].headers(id, browserRequest(number), true));
      }
    }
    const auto all = static_cast<uint64_t>(first + requests) * clients.size();
    EXPECT(proxy.waitFor("cluster.origin.upstream_rq_active", all));
  };
  askEach(10, 0);
  const size_t few = allocated();
  askEach(90, 10);
  EXPECT((allocated() - few) / 900 <= 2048);
  proxy.stop();
}

}  // namespace fairlead::test
