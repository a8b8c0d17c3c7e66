// The control thread reads and changes whatever it may while several workers serve.
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "hot_restart/stats_transfer.h"
#include "stats/query.h"
#include "test/native/support/exchange.h"
#include "test/native/support/origin.h"
#include "test/native/support/proxy.h"
#include "test/native/test.h"
#include "worker/clusters_page.h"
#include "worker/hystrix_events.h"
#include "worker/stats_sinks.h"

namespace fairlead::test {

namespace {

std::string readAll(std::unique_ptr<stats::Page> page) {
  std::string text;
  while (page->next(&text)) {
  }
  return text;
}

plan::Update loggingPlan(uint16_t port, const std::string& log) {
  plan::Update plan = httpPlan({port});
  plan::AccessLog& lines = plan.listeners[0].filter_chains[0].http->access_logs.emplace_back();
  lines.path = log;
  using Operator = plan::FormatPiece::Operator;
  for (const Operator op : {Operator::ResponseCode, Operator::Duration, Operator::StartTime}) {
    lines.format.emplace().pieces.emplace_back().op = op;
  }
  lines.format->pieces.push_back({Operator::Literal, "\n", {}, 0});
  return plan;
}

// Another cluster, with a listener of its own.
plan::Update moreOf(plan::Update plan, int number) {
  const std::string name = std::to_string(number);
  plan.clusters[0].name = plan.assignments[0].cluster_name = "origin" + name;
  plan.listeners[0].name = plan.listeners[0].stat_name = "in" + name;
  return plan;
}

// Every reader of numbers, once.
void readEverything(worker::DataPlane& plane, hot_restart::StatsExport* told) {
  plane.refreshStats();
  EXPECT(readAll(stats::openText(plane.stats(), {})).find("cluster.origin.") != std::string::npos);
  EXPECT(!readAll(stats::openJson(plane.stats(), {})).empty());
  EXPECT(!readAll(stats::openPrometheus(plane.stats(), {})).empty());
  EXPECT(!readAll(worker::openClustersText(plane, {})).empty());
  EXPECT(!readAll(worker::openClustersJson(plane, {})).empty());
  std::string batch;
  while (told->next(&batch, 1000)) batch.clear();
}

}  // namespace

TEST("The runtime's limits and maintenance hold at once, and are taken back by an empty word") {
  Origin origin(answering("hello"));
  Proxy proxy(httpPlan({origin.port()}));
  Socket client = proxy.connect();
  const auto ask = [&client] {
    client.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    return client.readMessage();
  };
  plan::Update update;
  plan::ClusterRuntime runtime;
  runtime.cluster_name = "origin";
  runtime.maintenance_millionths = 1'000'000;
  update.cluster_runtimes = {runtime};
  EXPECT(proxy.dataPlane().apply(update).empty());
  const std::string refused = ask();
  EXPECT(refused.starts_with("HTTP/1.1 503 "));
  EXPECT(refused.find("x-envoy-overloaded: true\r\n") != std::string::npos);
  EXPECT(refused.ends_with("maintenance mode"));
  EXPECT_EQ(proxy.stat("cluster.origin.upstream_rq_maintenance_mode"), 1u);

  runtime.maintenance_millionths = 0;
  runtime.limits.resize(2);
  runtime.limits[0].max_requests = 0;
  update.cluster_runtimes = {runtime, {"nobody", {}, 0}};
  EXPECT(proxy.dataPlane().apply(update).empty());
  EXPECT(ask().ends_with("reset reason: overflow"));
  update.cluster_runtimes = {{"origin", {}, 0}};
  EXPECT(proxy.dataPlane().apply(update).empty());
  EXPECT(ask().starts_with("HTTP/1.1 200 "));
}

TEST("A limit of 0 that nobody came up against is no open breaker") {
  plan::Update plan = httpPlan({1});
  plan.clusters[0].limits.assign(2, {0, 0, 0, 0, false, {}, {}});
  Proxy proxy(plan);
  proxy.dataPlane().refreshStats();
  EXPECT_EQ(proxy.stat("cluster.origin.circuit_breakers.default.rq_retry_open"), 0u);
  EXPECT_EQ(proxy.stat("cluster.origin.circuit_breakers.default.cx_open"), 0u);
  EXPECT_EQ(proxy.stat("cluster.origin.circuit_breakers.high.rq_open"), 0u);
}

TEST("Whatever the control thread reads and changes, requests are answered") {
  Origin origin(answering("hello"));
  char log[] = "/tmp/fairlead-data-plane-XXXXXX";
  ::close(::mkstemp(log));
  const plan::Update plan = loggingPlan(origin.port(), log);
  {
    Proxy proxy(plan, 2);
    worker::DataPlane& plane = proxy.dataPlane();
    std::atomic<bool> over{false};
    std::atomic<int> answers{0};
    std::vector<std::thread> clients;
    for (int i = 0; i < 4; ++i) {
      clients.emplace_back([&] {
        while (!over) {
          Socket client = proxy.connect();
          for (int n = 0; n < 20 && !over; ++n) {
            EXPECT(client.write(kGet));
            const std::string answer = client.readMessage();
            EXPECT(answer.starts_with("HTTP/1.1 200 "));
            ++answers;
            if (answer.find("connection: close") != std::string::npos) break;
          }
        }
      });
    }
    auto sinks = worker::StatsSinks::build({plan::SinkFormat{}}, &plane.stats());
    EXPECT(sinks.ok());
    worker::HystrixEvents hystrix(plane, 3, 1000);
    hot_restart::StatsExport told(plane.stats());
    for (int round = 1; round <= 30 || answers < 500; ++round) {
      const auto profile = plane.profileCpu();
      if (round <= 5) EXPECT(plane.apply(moreOf(plan, round)).empty());
      plan::Update update;
      update.assignments = plan.assignments;
      update.route_tables = plan.route_tables;
      EXPECT(plane.apply(update).empty());
      plane.setHealthCheckFailed(round % 3 == 0);
      if (round % 2 == 0) plane.startDrain(worker::DrainScope::All, {0, 10});
      readEverything(plane, &told);
      sinks.value()->open(round);
      std::vector<std::string> pieces;
      while (sinks.value()->next(&pieces)) pieces.clear();
      plane.stats().flushHistograms();
      readAll(hystrix.open(round));
      if (round % 10 == 0) plane.stats().resetCounters();
      plane.reopenLogs();
      plane.cancelDrain();
      profile->drain([](unsigned, std::span<const uintptr_t>) {});
    }
    over = true;
    for (std::thread& client : clients) client.join();
    proxy.expectQuiet();
    // From here on beginnings and ends are counted alike again.
    plane.stats().resetCounters();
  }
  ::unlink(log);
}

TEST("What is handed over and taken back any number of times loses no connection") {
  Origin origin(answering("hello"));
  Proxy proxy(httpPlan({origin.port()}), 2);
  worker::DataPlane& plane = proxy.dataPlane();
  const std::string address = "127.0.0.1:" + std::to_string(proxy.port());
  std::atomic<bool> over{false};
  std::atomic<int> answers{0};
  std::vector<std::thread> clients;
  for (int i = 0; i < 3; ++i) {
    clients.emplace_back([&] {
      while (!over) {
        Socket client = proxy.connect();
        EXPECT(client.write(kGet));
        // Waits in the queue while nobody accepts.
        EXPECT(client.readMessage().starts_with("HTTP/1.1 200 "));
        ++answers;
      }
    });
  }
  for (int round = 0; round < 40 || answers < 200; ++round) {
    // Who hands over waits for the workers; else they would do nothing but what they are told.
    plane.handOver({address}).wait();
    EXPECT(plane.takeBack().empty());
    EXPECT(plane.listenSockets().all().size() == 2u);
  }
  over = true;
  for (std::thread& client : clients) client.join();
  proxy.expectQuiet();
}

}  // namespace fairlead::test
