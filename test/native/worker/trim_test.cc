// What a burst leaves with a worker.
#include <sys/resource.h>

#include <algorithm>
#include <string>
#include <vector>

#include "proxy/context.h"
#include "test/native/support/origin.h"
#include "test/native/support/proxy.h"
#include "test/native/test.h"

namespace fairlead::test {

TEST("A worker gives the pipes of a burst back to the system when nobody needs them any more") {
  constexpr size_t kBytes = 8 * 1024 * 1024;
  Origin origin([](Socket& socket, int) {
    socket.readMessage();
    socket.write("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: " +
                 std::to_string(kBytes) + "\r\n\r\n" + std::string(kBytes, 'x'));
  });
  worker::DataPlane::Options options;
  options.intervals.trim_ms = 30;
  Proxy proxy(httpPlan({origin.port()}), options);
  const size_t before = openDescriptors();
  {
    std::vector<Socket> clients(12);
    for (Socket& client : clients) {
      client = proxy.connect(32 * 1024);
      client.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    }
    for (Socket& client : clients) {
      EXPECT(client.readUntil("\r\n\r\n").starts_with("HTTP/1.1 200 "));
    }
    // A full socket is no sink for a pipe: it takes one once its client goes on reading.
    for (Socket& client : clients) EXPECT_EQ(client.discard(kBytes / 4), kBytes / 4);
    // More than both ends of two connections each, some of which the origin has closed by now.
    EXPECT(proxy.waitUntil([before] { return openDescriptors() > before + 12 * 4; }));
    for (Socket& client : clients) EXPECT_EQ(client.discard(kBytes / 4 * 3), kBytes / 4 * 3);
  }
  proxy.expectQuiet();
  EXPECT(proxy.waitUntil([before] { return openDescriptors() == before; }));
}

TEST("More streams at once than may rest are all answered, and rest or end") {
  constexpr size_t kStreams = proxy::StreamPool::kMaxResting + 100;
  rlimit limit;
  EXPECT(::getrlimit(RLIMIT_NOFILE, &limit) == 0);
  limit.rlim_cur = limit.rlim_max;
  EXPECT(::setrlimit(RLIMIT_NOFILE, &limit) == 0);
  Origin origin(answering("hello"));
  plan::Update plan = httpPlan({origin.port()});
  plan.clusters[0].limits.assign(2, {1, 2 * kStreams, 2 * kStreams, 3, false, {}, {}, {}});
  Proxy proxy(plan);
  for (int round = 0; round < 2; ++round) {
    std::vector<Socket> clients(kStreams);
    for (Socket& client : clients) {
      client = proxy.connect();
      client.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    }
    for (Socket& client : clients) EXPECT(client.readMessage().ends_with("hello"));
  }
}

}  // namespace fairlead::test
