// A worker whose system has no descriptors, no memory for epoll and no threads: a connection fails,
// and the proxy goes on.
#include <cerrno>
#include <string>

#include "test/native/support/exchange.h"
#include "test/native/support/kernel.h"
#include "test/native/support/origin.h"
#include "test/native/support/proxy.h"
#include "test/native/test.h"

namespace fairlead::test {

TEST("A connection to a host that cannot be watched has failed, and the next one serves") {
  const DescriptorsBalance balance;
  Origin origin(answering("hello"));
  Proxy proxy(httpPlan({origin.port()}));
  Socket client = proxy.connect();
  EXPECT(proxy.waitFor("listener.in.downstream_cx_active", 1));
  {
    const Refusing refusing(Call::EpollAdd, ENOSPC);
    EXPECT(ask(client).ends_with("reset reason: remote connection failure"));
  }
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_cx_connect_fail"), 1u);
  EXPECT(ask(client).ends_with("hello"));
}

TEST("Out of descriptors, a request on an open connection gets 503, and 200 once there are some") {
  Origin origin(answering("hello"));
  Proxy proxy(httpPlan({origin.port()}));
  Socket client = proxy.connect();
  EXPECT(proxy.waitFor("listener.in.downstream_cx_active", 1));
  {
    const NoMoreDescriptors none;
    EXPECT(ask(client).starts_with("HTTP/1.1 503 "));
  }
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_cx_connect_fail"), 1u);
  EXPECT(ask(client).ends_with("hello"));
}

TEST("A client that cannot be watched is closed and counted, and the next one is served") {
  const DescriptorsBalance balance;
  Origin origin(answering("hello"));
  Proxy proxy(httpPlan({origin.port()}));
  {
    const Refusing refusing(Call::EpollAdd, ENOMEM);
    EXPECT_EQ(ask(*std::make_unique<Socket>(proxy.connect())), std::string());
  }
  EXPECT(proxy.waitFor("listener.in.downstream_cx_destroy", 1));
  Socket client = proxy.connect();
  EXPECT(ask(client).ends_with("hello"));
}

TEST("A relay whose host cannot be watched tries again as the plan says, and ends its client") {
  const DescriptorsBalance balance;
  Origin origin([](Socket& socket, int) { socket.write("hello"); });
  plan::Update plan = tcpPlan({origin.port()});
  plan.listeners[0].filter_chains[0].tcp->max_connect_attempts = 2;
  Proxy proxy(plan);
  EXPECT_EQ(proxy.connect().readAll(), std::string("hello"));
  {
    // The client itself is watched.
    const Refusing refusing(Call::EpollAdd, ENOSPC, 1);
    EXPECT_EQ(proxy.connect().readAll(), std::string());
  }
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_cx_connect_fail"), 2u);
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_cx_connect_attempts_exceeded"), 1u);
  EXPECT_EQ(proxy.connect().readAll(), std::string("hello"));
}

TEST(
    "A data plane that the system has not enough descriptors or threads for is none, and says "
    "why") {
  const worker::DataPlane::Options options{.workers = 3};
  const auto errorWithout = [&options](Call call, int granted) {
    const Refusing refusing(call, EMFILE, granted);
    const auto created = worker::DataPlane::create(options);
    return created ? std::string() : created.error().message;
  };
  EXPECT_EQ(errorWithout(Call::EpollCreate, 1),
            std::string("cannot make worker 2 of 3: Too many open files"));
  EXPECT_EQ(errorWithout(Call::Eventfd, 2),
            std::string("cannot make worker 3 of 3: Too many open files"));
  EXPECT_EQ(errorWithout(Call::PthreadCreate, 0),
            std::string("cannot start the thread that writes access logs: Too many open files"));
  EXPECT(worker::DataPlane::create(options).ok());
}

TEST("A worker without a thread is an error of the start, and the others end as ever") {
  worker::DataPlane plane({.workers = 3});
  {
    const Refusing refusing(Call::PthreadCreate, EAGAIN, 2);
    const std::vector<worker::ApplyError> errors = plane.start();
    EXPECT_EQ(errors.size(), 1u);
    EXPECT_EQ(std::string(errors[0].kind), std::string("worker"));
    EXPECT_EQ(errors[0].name, std::string("2"));
    EXPECT_EQ(errors[0].message,
              std::string("cannot start its thread: Resource temporarily unavailable"));
  }
  plane.stop();
}

}  // namespace fairlead::test
