// When workers hear of changed hosts.
#include "worker/update_windows.h"

#include <string>

#include "stats/scopes.h"
#include "test/native/test.h"

namespace fairlead::test {

namespace {

using worker::UpdateWindows;
using Change = UpdateWindows::Change;

struct Windows {
  stats::Registry registry{1};
  std::shared_ptr<stats::Block<stats::ClusterManager>> stats =
      registry.create<stats::ClusterManager>(stats::plainScope("cluster_manager."));
  UpdateWindows windows{stats};

  bool note(std::vector<Change> changes, uint64_t now_ms) {
    return windows.note("c", 1000, changes, now_ms);
  }
  uint64_t count(const std::string& name) const {
    return registry.value("cluster_manager." + name).value_or(0);
  }
};

}  // namespace

TEST("Changes that come sooner than a window after others are told together when it is over") {
  Windows w;
  EXPECT(w.note({Change::Details}, 100));
  EXPECT(!w.note({Change::Details}, 600));
  EXPECT(!w.note({Change::Details}, 700));
  EXPECT_EQ(w.windows.due(), 1600u);
  EXPECT(w.windows.run(1599).empty());
  EXPECT_EQ(w.windows.run(1600).size(), 1u);
  EXPECT(!w.note({Change::Details}, 2500));
  EXPECT_EQ(w.count("cluster_updated"), 1u);
  EXPECT_EQ(w.count("update_out_of_merge_window"), 1u);
  EXPECT_EQ(w.count("cluster_updated_via_merge"), 1u);
  EXPECT_EQ(w.count("update_merge_cancelled"), 0u);
}

TEST("Of hosts that come or go workers hear at once, and then of what has waited") {
  Windows w;
  EXPECT(w.note({Change::Members, Change::None}, 100));
  EXPECT(!w.note({Change::Details, Change::None}, 200));
  EXPECT(w.note({Change::Members, Change::Members}, 300));
  EXPECT(w.windows.run(1200).empty());
  EXPECT_EQ(w.count("cluster_updated"), 3u);
  EXPECT_EQ(w.count("update_merge_cancelled"), 1u);
  EXPECT_EQ(w.count("update_out_of_merge_window"), 0u);
  w.note({Change::Details}, 400);
  w.windows.forget("c");
  EXPECT(w.windows.run(10'000).empty());
}

TEST("A turn that is set again takes no room") {
  worker::ClusterTurns turns;
  for (int i = 0; i < 3; ++i) turns.set("a", 10);
  turns.set("b", 20);
  EXPECT_EQ(turns.take(15).value_or(""), "a");
  EXPECT_EQ(turns.due(), 20u);
}

TEST("Without a window each change is told") {
  Windows w;
  EXPECT(w.windows.note("c", 0, {Change::Details, Change::Details}, 1));
  EXPECT(w.windows.note("c", 0, {Change::Details}, 1));
  EXPECT_EQ(w.count("cluster_updated"), 3u);
  EXPECT_EQ(w.count("update_out_of_merge_window"), 0u);
}

TEST("An update of all priorities counts once, and cancels what has waited") {
  Windows w;
  EXPECT(w.note({Change::Details, Change::None}, 100));
  EXPECT(!w.note({Change::Details, Change::None}, 200));
  w.windows.noteWhole("c", 1000, {Change::Members, Change::Members, Change::None}, 300);
  EXPECT(w.windows.run(10'000).empty());
  w.windows.noteWhole("c", 1000, {}, 400);
  EXPECT_EQ(w.count("cluster_updated"), 3u);
  EXPECT_EQ(w.count("update_merge_cancelled"), 1u);
}

}  // namespace fairlead::test
