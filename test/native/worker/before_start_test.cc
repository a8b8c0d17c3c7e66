// What statistics say before the workers run: nothing of what workers bring with them.
#include <memory>
#include <string>

#include "stats/query.h"
#include "test/native/support/proxy.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

std::string statistics(worker::DataPlane& plane) {
  plane.refreshStats();
  std::string text;
  const auto page = stats::openText(plane.stats(), {});
  while (page->next(&text)) {
  }
  return text;
}

bool shows(const std::string& text, const std::string& line) {
  return text.find(line) != std::string::npos;
}

}  // namespace

TEST("Listeners, workers and their clusters come to the statistics as the workers start") {
  plan::Update plan = httpPlan({1});
  worker::DataPlane::Options options;
  options.workers = 2;
  auto made = worker::DataPlane::create(options);
  EXPECT(static_cast<bool>(made));
  worker::DataPlane& plane = *made.value();
  EXPECT(plane.apply(plan).empty());
  const char* const kOfWorkers[] = {
      "listener.in.downstream_cx_total: 0",
      "listener.in.worker_1.downstream_cx_total: 0",
      "listener.in.downstream_cx_length_ms: ",
      "server.worker_0.watchdog_miss: 0",
      "thread_local_cluster_manager.worker_1.clusters_inflated: 1",
  };
  const std::string before = statistics(plane);
  for (const char* line : kOfWorkers) EXPECT(!shows(before, line));
  EXPECT(shows(before, "listener.in.extension_config_missing: 0"));
  EXPECT(shows(before, "thread_local_cluster_manager.main_thread.clusters_inflated: 1"));
  // The data plane says so of a cluster that has a place and waits for more.
  plane.setWarming("origin", true);
  EXPECT(shows(statistics(plane), "thread_local_cluster_manager.main_thread.clusters_inflated: 0"));
  plane.setWarming("origin", false);

  EXPECT(plane.start().empty());
  const std::string after = statistics(plane);
  for (const char* line : kOfWorkers) EXPECT(shows(after, line));
  plane.beginStop();
  plane.awaitStop();
}

}  // namespace fairlead::test
