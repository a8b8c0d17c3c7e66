// What is shed on the way to a host.
#include <string>

#include "test/native/support/exchange.h"
#include "test/native/support/origin.h"
#include "test/native/support/proxy.h"
#include "test/native/test.h"

namespace fairlead::test {

TEST("Where no connection may be made to a host, no request waits for those that are busy") {
  Origin origin([](Socket& socket, int) {
    while (!socket.readMessage().empty()) {
      sleepMs(300);
      if (!socket.write(kOk)) return;
    }
  });
  Proxy proxy(httpPlan({origin.port()}));
  Socket busy = proxy.connect();
  busy.write(kGet);
  EXPECT(proxy.waitFor("cluster.origin.upstream_rq_active", 1));
  proxy.shed(plan::OverloadLevel::Subject::PointPoolConnection);
  Socket client = proxy.connect();
  client.write(kGet);
  const std::string answer = client.readMessage();
  EXPECT(answer.starts_with("HTTP/1.1 503"));
  EXPECT(answer.ends_with("reset reason: overflow"));
  // It is no failure of the host's.
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_rq_cancelled"), 1u);
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_rq_pending_failure_eject"), 0u);
  EXPECT(busy.readMessage().starts_with("HTTP/1.1 200"));
  // The connection that is there serves whoever comes when it is idle.
  client.write(kGet);
  EXPECT(client.readMessage().starts_with("HTTP/1.1 200"));
  EXPECT_EQ(origin.connections(), 1);
}

}  // namespace fairlead::test
