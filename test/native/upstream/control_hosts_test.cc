#include "upstream/control_hosts.h"

#include <map>
#include <memory>
#include <string>

#include "stats/scopes.h"
#include "test/native/test.h"

namespace fairlead::upstream {

namespace {

class Story {
 public:
  Story() : cluster_(makeCluster()) {}

  void setHosts(int count, plan::Host::Health health = plan::Host::Health::Healthy) {
    std::vector<std::shared_ptr<Host>> hosts;
    for (int i = 1; i <= count; ++i) {
      plan::Host host;
      host.address.emplace().ip = std::string("\x0a\0\0\1", 4);
      host.address->port = static_cast<uint32_t>(i);
      host.weight = 1;
      host.health = health;
      hosts.push_back(std::make_shared<Host>(std::make_shared<const plan::Host>(host), kWorkers));
    }
    auto set = std::make_shared<HostSet>(std::move(hosts), nullptr, 50, 140);
    if (cluster_->settings().subsets) {
      set->setSubsets(
          std::make_shared<const SubsetIndex>(cluster_->settings(), *set, set->rules()));
    }
    cluster_->setHosts(std::move(set));
  }
  // 0: none.
  unsigned choosePort() {
    const auto host = hosts_.choose(cluster_);
    return host ? host->address().port() : 0;
  }
  std::shared_ptr<Host> choose() { return hosts_.choose(cluster_); }
  uint64_t count(const char* name) {
    return registry_.value(std::string("cluster.c.") + name).value_or(0);
  }
  void replaceCluster() { cluster_ = makeCluster(); }
  void replaceCluster(plan::Subsets::Fallback fallback) {
    plan::Subsets subsets;
    subsets.fallback = fallback;
    cluster_ = makeCluster(subsets);
  }

 private:
  static constexpr unsigned kWorkers = 2;
  std::shared_ptr<Cluster> makeCluster(std::optional<plan::Subsets> subsets = {}) {
    plan::Cluster plan;
    plan.name = "c";
    if (subsets) plan.subsets = std::move(*subsets);
    return std::make_shared<Cluster>(plan,
                                     registry_.create<stats::Cluster>(stats::clusterScope("c")));
  }

  stats::Registry registry_{kWorkers};
  std::shared_ptr<Cluster> cluster_;
  ControlHosts hosts_{kWorkers};
};

}  // namespace

TEST("the control plane's connections take hosts in the cluster's own order") {
  Story story;
  story.setHosts(3);
  std::map<unsigned, int> counts;
  for (int i = 0; i < 30; ++i) ++counts[story.choosePort()];
  EXPECT_EQ(counts.size(), 3u);
  for (const auto& [port, count] : counts) EXPECT_EQ(count, 10);
}

TEST("a cluster without hosts has none to choose, which is counted") {
  Story story;
  EXPECT_EQ(story.choosePort(), 0u);
  EXPECT_EQ(story.count("upstream_cx_none_healthy"), 1u);
  story.setHosts(1);
  EXPECT_EQ(story.choosePort(), 1u);
  EXPECT_EQ(story.count("upstream_cx_none_healthy"), 1u);
}

TEST("in a panic unhealthy hosts are chosen, which is counted") {
  Story story;
  story.setHosts(2, plan::Host::Health::Unhealthy);
  EXPECT(story.choosePort() != 0);
  EXPECT_EQ(story.count("lb_healthy_panic"), 1u);
}

TEST("hosts that come later are chosen from, also those of a cluster that is replaced") {
  Story story;
  story.setHosts(1);
  EXPECT_EQ(story.choosePort(), 1u);
  story.setHosts(2);
  std::map<unsigned, int> counts;
  for (int i = 0; i < 4; ++i) ++counts[story.choosePort()];
  EXPECT_EQ(counts.size(), 2u);
  story.replaceCluster();
  EXPECT_EQ(story.choosePort(), 0u);
}

TEST(
    "of a cluster with subsets the control plane, which asks for none, gets what its rules leave") {
  Story story;
  story.replaceCluster(plan::Subsets::Fallback::None);
  story.setHosts(1);
  EXPECT_EQ(story.choosePort(), 0u);
  EXPECT_EQ(story.count("upstream_cx_none_healthy"), 1u);
  story.replaceCluster(plan::Subsets::Fallback::Any);
  story.setHosts(2);
  EXPECT(story.choosePort() != 0);
  EXPECT_EQ(story.count("lb_subsets_fallback"), 1u);
}

TEST("what the control plane counts on a host adds to what workers count there") {
  Story story;
  story.setHosts(1);
  const std::shared_ptr<Host> host = story.choose();
  host->counters(0).cx_active.add();
  host->controlCounters().cx_active.add();
  host->controlCounters().cx_active.add();
  host->controlCounters().cx_active.add(static_cast<uint64_t>(-1));
  EXPECT_EQ(host->sum(&HostCounters::cx_active), 2u);
}

}  // namespace fairlead::upstream
