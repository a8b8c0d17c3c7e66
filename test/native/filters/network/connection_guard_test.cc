// Services that are asked about connections.
#include "http/grpc_frames.h"
#include "test/native/support/http_filters.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

// An echo, and a cluster "auth" that is asked about its clients.
plan::Update guarded(uint16_t service, bool by_limit) {
  plan::Update plan = tcpPlan({service});
  plan.clusters[0].name = "auth";
  // Of HTTP/1, which has them only where that is wanted.
  plan.clusters[0].enable_trailers = true;
  plan.assignments[0].cluster_name = "auth";
  plan::FilterChain& chain = plan.listeners[0].filter_chains[0];
  chain.tcp.reset();
  chain.echo.emplace();
  plan::ConnectionGuard guard;
  plan::Service asked;
  asked.cluster = "auth";
  asked.timeout_ms = 5000;
  if (by_limit) {
    plan::NetworkRatelimit& limit = guard.ratelimit.emplace();
    limit.service = asked;
    limit.stat_prefix = "l";
    limit.failure_mode_deny = true;
  } else {
    plan::NetworkExtAuthz& authz = guard.ext_authz.emplace();
    authz.service = asked;
    authz.stat_prefix = "a";
  }
  chain.guards.push_back(std::move(guard));
  return plan;
}

Origin::Script answeringCalls(const std::string& message) {
  std::string frame;
  http::appendGrpcFrameHeader(&frame, 0, message.size());
  frame += message;
  return [frame](Socket& socket, int) {
    while (!socket.readMessage().empty()) {
      char size[16];
      std::snprintf(size, sizeof(size), "%zx", frame.size());
      socket.write(
          "HTTP/1.1 200 OK\r\ncontent-type: application/grpc\r\ntransfer-encoding: "
          "chunked\r\n\r\n" +
          std::string(size) + "\r\n" + frame + "\r\n0\r\ngrpc-status: 0\r\n\r\n");
    }
  };
}

std::string echoOf(Proxy& proxy) {
  Socket client = proxy.connect();
  client.write("hello");
  return client.read(5);
}

}  // namespace

TEST("Whom a service lets go on is heard, what came meanwhile, too; others are not") {
  Origin good(answeringCalls(std::string("\n\0", 2)));
  Proxy open(guarded(good.port(), false));
  EXPECT_EQ(echoOf(open), "hello");
  EXPECT_EQ(open.stat("ext_authz.a.ok"), 1u);
  EXPECT_EQ(open.stat("ext_authz.a.active"), 0u);
  Origin bad(answeringCalls("\n\x02\x08\x07"));
  Proxy closed(guarded(bad.port(), false));
  EXPECT_EQ(echoOf(closed), "");
  EXPECT_EQ(closed.stat("ext_authz.a.denied"), 1u);
  EXPECT_EQ(closed.stat("ext_authz.a.cx_closed"), 1u);
}

TEST("A limit is asked before a client says anything, and an error closes where it is to") {
  Origin good(answeringCalls("\x08\x01"));
  Proxy open(guarded(good.port(), true));
  EXPECT_EQ(echoOf(open), "hello");
  EXPECT_EQ(open.stat("ratelimit.l.ok"), 1u);
  Origin over(answeringCalls("\x08\x02"));
  Proxy limited(guarded(over.port(), true));
  EXPECT_EQ(echoOf(limited), "");
  EXPECT_EQ(limited.stat("ratelimit.l.over_limit"), 1u);
  Origin broken(answeringCalls("\xff\xff"));
  Proxy failing(guarded(broken.port(), true));
  EXPECT_EQ(echoOf(failing), "");
  EXPECT_EQ(failing.stat("ratelimit.l.error"), 1u);
}

}  // namespace fairlead::test
