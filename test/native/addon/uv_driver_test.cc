// A worker that has its turns from a libuv loop, one by one, between what else that loop does.
#include "addon/uv_driver.h"

#include <poll.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "test/native/support/exchange.h"
#include "test/native/support/kernel.h"
#include "test/native/support/origin.h"
#include "test/native/support/proxy.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

constexpr uint64_t kBudgetUs = 500;

bool hasSomething(const Socket& socket) {
  pollfd one{socket.fd(), POLLIN, 0};
  return ::poll(&one, 1, 0) == 1;
}

// A loop of this thread. It has work of its own: counting how often it comes round, and giving up
// on what does not happen.
class UvLoop {
 public:
  UvLoop() {
    uv_loop_init(&loop_);
    uv_check_init(&loop_, &rounds_handle_);
    rounds_handle_.data = this;
    uv_check_start(&rounds_handle_, [](uv_check_t* handle) {
      auto* own = static_cast<UvLoop*>(handle->data);
      ++own->rounds_;
      if (own->on_round_) own->on_round_();
    });
    uv_timer_init(&loop_, &patience_);
    for (uv_handle_t* handle : own_) uv_unref(handle);
  }
  UvLoop(const UvLoop&) = delete;
  UvLoop& operator=(const UvLoop&) = delete;
  ~UvLoop() {
    for (uv_handle_t* handle : own_) uv_close(handle, nullptr);
    uv_run(&loop_, UV_RUN_DEFAULT);
    // Nobody has left a handle.
    EXPECT_EQ(uv_loop_close(&loop_), 0);
  }

  uv_loop_t* get() { return &loop_; }
  size_t rounds() const { return rounds_; }
  void onRound(std::function<void()> work) { on_round_ = std::move(work); }

  // One time round after the other, each as long as the loop likes to sleep.
  bool runUntil(const std::function<bool()>& holds) {
    bool is_late = false;
    patience_.data = &is_late;
    const auto giveUp = [](uv_timer_t* timer) { *static_cast<bool*>(timer->data) = true; };
    uv_timer_start(&patience_, giveUp, Socket::kPatienceMs, 0);
    while (!holds() && !is_late) uv_run(&loop_, UV_RUN_ONCE);
    uv_timer_stop(&patience_);
    return !is_late;
  }
  // False: something of it has not ended.
  bool runToEnd() {
    return runUntil([this] { return uv_loop_alive(&loop_) == 0; });
  }

 private:
  uv_loop_t loop_;
  uv_check_t rounds_handle_;
  uv_timer_t patience_;
  uv_handle_t* const own_[2] = {reinterpret_cast<uv_handle_t*>(&rounds_handle_),
                                reinterpret_cast<uv_handle_t*>(&patience_)};
  size_t rounds_ = 0;
  std::function<void()> on_round_;
};

worker::DataPlane::Options drivenBy(UvLoop& loop, uint64_t budget_us = kBudgetUs) {
  worker::DataPlane::Options options;
  options.make_driver = [&loop, budget_us](worker::Worker& worker) {
    return std::make_unique<addon::UvDriver>(worker, loop.get(), budget_us);
  };
  return options;
}

std::string ask(UvLoop& loop, Socket& client) {
  client.write(kGet);
  EXPECT(loop.runUntil([&client] { return hasSomething(client); }));
  return client.readMessage();
}

}  // namespace

TEST("On a libuv loop a worker does nothing without a turn, and answers when it has some") {
  UvLoop loop;
  Origin origin(answering("hello"));
  Proxy proxy(httpPlan({origin.port()}), drivenBy(loop));
  Socket client = proxy.connect();
  client.write(kGet);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT(!hasSomething(client));
  EXPECT_EQ(proxy.stat("http.in.downstream_rq_total"), 0u);

  EXPECT(loop.runUntil([&client] { return hasSomething(client); }));
  EXPECT(client.readMessage().ends_with("hello"));
  for (int i = 0; i < 3; ++i) EXPECT(ask(loop, client).ends_with("hello"));
  EXPECT_EQ(proxy.stat("http.in.downstream_rq_total"), 4u);
  EXPECT_EQ(origin.connections(), 1);
}

TEST("On a libuv loop a try waits for its back-off, and the loop sleeps as long") {
  UvLoop loop;
  Origin origin([](Socket& socket, int) {
    for (int tries = 0; !socket.readMessage().empty(); ++tries) {
      socket.write(tries < 3 ? "HTTP/1.1 503 x\r\ncontent-length: 0\r\n\r\n" : kOk);
    }
  });
  plan::Update plan = httpPlan({origin.port()});
  plan::RetryPolicy& policy =
      plan.route_tables[0].virtual_hosts[0].routes[0].cluster->retry.emplace();
  policy.retry_on = "5xx";
  policy.num_retries = 3;
  policy.base_interval_ms = 100;
  Proxy proxy(plan, drivenBy(loop));
  Socket client = proxy.connect();
  EXPECT(ask(loop, client).ends_with("ok"));
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_rq_retry"), 3u);
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_rq_retry_success"), 1u);
  // A round for each event and timer: a loop that does not sleep has thousands.
  EXPECT(loop.rounds() < 100);
}

TEST("On a libuv loop a worker takes up an update between two requests of a connection") {
  UvLoop loop;
  Origin one(answering("one"));
  Origin two(answering("two"));
  Proxy proxy(httpPlan({one.port()}), drivenBy(loop));
  Socket client = proxy.connect();
  EXPECT(ask(loop, client).ends_with("one"));
  plan::Update update;
  update.assignments = {hostsOn({two.port()})};
  EXPECT(proxy.dataPlane().apply(update).empty());
  EXPECT(ask(loop, client).ends_with("two"));
}

TEST("Two workers share one libuv loop") {
  UvLoop loop;
  Origin origin(answering("hello"));
  worker::DataPlane::Options options = drivenBy(loop);
  options.workers = 2;
  Proxy proxy(httpPlan({origin.port()}), options);
  const auto isServed = [&](unsigned worker) {
    const std::string total =
        "listener.in.worker_" + std::to_string(worker) + ".downstream_cx_total";
    return proxy.stat(total) > 0;
  };
  for (int i = 0; i < 200 && !(isServed(0) && isServed(1)); ++i) {
    Socket client = proxy.connect();
    EXPECT(ask(loop, client).ends_with("hello"));
  }
  EXPECT(isServed(0) && isServed(1));
}

TEST("On a libuv loop a worker with a budget of nothing handles few events between its rounds") {
  // As many as may wait for the listener.
  constexpr size_t kClients = 120;
  // A turn for the loop's events, and one before it sleeps.
  constexpr uint64_t kEventsInRound = 2 * 16;
  UvLoop loop;
  Origin origin(answering("hello"));
  Proxy proxy(httpPlan({origin.port()}), drivenBy(loop, 0));
  std::vector<Socket> clients(kClients);
  for (Socket& client : clients) client = proxy.connect();
  EXPECT(loop.runUntil([&] { return proxy.stat("http.in.downstream_cx_active") == kClients; }));

  uint64_t seen = 0;
  uint64_t most = 0;
  loop.onRound([&] {
    const uint64_t total = proxy.stat("http.in.downstream_rq_total");
    most = std::max(most, total - seen);
    seen = total;
  });
  const size_t rounds = loop.rounds();
  for (Socket& client : clients) client.write(kGet);
  EXPECT(loop.runUntil([&] {
    return std::all_of(clients.begin(), clients.end(), [](auto& one) { return hasSomething(one); });
  }));
  EXPECT(most > 0 && most <= kEventsInRound);
  EXPECT(loop.rounds() - rounds >= kClients / kEventsInRound);
  for (Socket& client : clients) EXPECT(client.readMessage().ends_with("hello"));
}

TEST("On a libuv loop workers end while requests come, and leave the loop as it was") {
  UvLoop loop;
  Origin origin(answering("hello"));
  worker::DataPlane::Options options = drivenBy(loop);
  options.workers = 2;
  Proxy proxy(httpPlan({origin.port()}), options);
  std::atomic<int> answers{0};
  std::atomic<bool> over{false};
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&] {
      while (!over) {
        Socket client = proxy.connect();
        while (client.isOpen() && client.write(kGet)) {
          const std::string answer = client.readMessage();
          if (answer.empty()) break;
          EXPECT(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("hello"));
          ++answers;
        }
      }
    });
  }
  EXPECT(loop.runUntil([&] { return answers > 200; }));
  // As the addon does: the end is awaited by a thread that has nothing else to do.
  proxy.dataPlane().beginStop();
  std::thread waiting([&] { proxy.dataPlane().awaitStop(); });
  EXPECT(loop.runToEnd());
  waiting.join();
  over = true;
  proxy.stop();
  for (std::thread& client : clients) client.join();
}

TEST("A worker whose libuv loop comes round no more is ended by who ends the data plane") {
  UvLoop loop;
  Origin origin(answering("hello"));
  Proxy proxy(httpPlan({origin.port()}), drivenBy(loop));
  Socket client = proxy.connect();
  EXPECT(ask(loop, client).ends_with("hello"));
  proxy.stop();
  EXPECT(client.read().empty());
}

TEST("A libuv loop that the system lets watch nothing more drives no worker") {
  UvLoop loop;
  worker::DataPlane plane(drivenBy(loop));
  EXPECT(plane.apply(httpPlan({1})).empty());
  std::vector<worker::ApplyError> errors;
  {
    const Refusing refusing(Call::EpollAdd, ENOSPC);
    errors = plane.start();
  }
  EXPECT_EQ(errors.size(), 1u);
  EXPECT_EQ(std::string(errors[0].kind), std::string("worker"));
  EXPECT_EQ(errors[0].message,
            std::string("its loop cannot watch for its events: no space left on device"));
}

}  // namespace fairlead::test
