// Which cluster a request goes to.
#include "route/action.h"

#include <string>
#include <vector>

#include "test/native/route/fixtures.h"
#include "test/native/test.h"

namespace fairlead {

using test::Request;

namespace {

// Weights 50, 0 and 50 for clusters "0", "1" and "2"; x-rand may choose.
route::ClusterAction weighted() {
  plan::ClusterAction plan;
  plan.weighted =
      plan::WeightedClusters{{test::weightedCluster("0", 50), test::weightedCluster("1", 0),
                              test::weightedCluster("2", 50)},
                             "x-rand"};
  static NameIds ids;
  return std::move(route::ClusterAction::build(plan, ids).value());
}

int slotFor(Request request) { return std::stoi(weighted().pick(request.view()).cluster.name()); }

int slotFor(std::string value, uint64_t random = 0) {
  return slotFor(Request{.random = random}.with("x-rand", std::move(value)));
}

}  // namespace

TEST("chance picks a cluster by weight; one of weight 0 never") {
  int counts[3] = {};
  for (uint64_t random = 0; random < 1000; ++random) ++counts[slotFor(Request{.random = random})];
  EXPECT_EQ(counts[0], 500);
  EXPECT_EQ(counts[1], 0);
  EXPECT_EQ(counts[2], 500);
}

TEST("weights that follow runtime values are summed for each request") {
  RuntimeSlots slots;
  plan::WeightedCluster live = test::weightedCluster("1", 0);
  live.weight_slot = 1;
  plan::ClusterAction plan;
  plan.weighted = plan::WeightedClusters{{test::weightedCluster("0", 50), live}, ""};
  NameIds ids;
  const route::ClusterAction action =
      std::move(route::ClusterAction::build(plan, ids, &slots).value());
  const auto slot_for = [&action](uint64_t random) {
    return std::stoi(action.pick(Request{.random = random}.view()).cluster.name());
  };
  EXPECT_EQ(slot_for(149), 0);

  slots.set(std::vector<uint64_t>{100});
  EXPECT_EQ(slot_for(49), 0);
  EXPECT_EQ(slot_for(149), 1);
  EXPECT_EQ(slot_for(150), 0);
}

TEST("a header's number picks instead of chance, modulo the total weight") {
  EXPECT_EQ(slotFor("10", 60), 0);
  EXPECT_EQ(slotFor("60"), 2);
  EXPECT_EQ(slotFor("149", 60), 0);
  EXPECT_EQ(slotFor("+60"), 2);
}

TEST("a header that is no number, or is there twice, leaves it to chance") {
  for (const char* value : {"", "-1", "60x", "99999999999999999999"}) {
    EXPECT_EQ(slotFor(value, 10), 0);
    EXPECT_EQ(slotFor(value, 60), 2);
  }
  EXPECT_EQ(slotFor(Request{.random = 10}.with("x-rand", "60").with("x-rand", "60")), 0);
}

TEST("another try goes to clusters that were not asked, and to all of them again when all were") {
  const route::ClusterAction action = weighted();
  std::vector<const route::Target*> tried = {&action.targets[0]};
  for (uint64_t random = 0; random < 100; ++random) {
    EXPECT_EQ(action.pickOther(tried, random).cluster.name(), "2");
  }
  EXPECT_EQ(tried.size(), 1u);

  tried.push_back(&action.targets[2]);
  EXPECT_EQ(action.pickOther(tried, 49).cluster.name(), "0");
  EXPECT_EQ(tried.size(), 0u);
  EXPECT_EQ(action.pickOther(tried, 50).cluster.name(), "2");
}

}  // namespace fairlead
