#include "test/native/test.h"
#include "test/native/upstream/fixtures.h"
#include "upstream/subset_balancer.h"

namespace fairlead::upstream {

namespace {

using plan::SubsetCriteria;
using Fallback = plan::Subsets::Fallback;
using SelectorFallback = plan::SubsetSelector::Fallback;
using Found = Choice::Subset;

plan::SubsetSelector selectorOf(std::vector<std::string> keys,
                                SelectorFallback fallback = SelectorFallback::OfCluster) {
  plan::SubsetSelector selector;
  selector.keys = std::move(keys);
  selector.fallback = fallback;
  return selector;
}

// Hosts 1 and 2 of version 1, host 3 of version 2, host 4 of a list of versions.
class Labelled {
 public:
  explicit Labelled(plan::Subsets rules) {
    cluster_.subsets = std::move(rules);
    add({"stage=\"prod\"", "version=\"1\""});
    add({"stage=\"dev\"", "version=\"1\""});
    add({"stage=\"prod\"", "version=\"2\""});
    add({"version=\"3\"", "version=\"4\""}, {"version=[\"3\",\"4\"]"});
    set_ = std::make_unique<HostSet>(hosts_, nullptr, HostSetRules{});
    set_->setSubsets(std::make_shared<const SubsetIndex>(cluster_, *set_, set_->rules()));
    any_.setHosts(*set_);
    subsets_ = std::make_unique<SubsetBalancer>(*cluster_.subsets, settings_, any_, 0, random_);
    subsets_->setHosts(*set_, nullptr);
  }

  // Which hosts are chosen, as their ports; 0: nobody.
  std::string chosen(std::vector<std::string> labels, Found found) {
    return chosen(SubsetCriteria(std::move(labels)), found);
  }
  std::string chosen(const SubsetCriteria& criteria, Found found) {
    std::map<unsigned, bool> seen;
    for (int i = 0; i < 60; ++i) {
      const Choice choice = subsets_->choose({}, &criteria);
      EXPECT(choice.subset == found);
      seen[choice.host ? choice.host->address().port() : 0] = true;
    }
    std::string text;
    for (const auto& [port, is_seen] : seen) text += std::to_string(port);
    return text;
  }
  const SubsetIndex& index() const { return *set_->subsets(); }

 private:
  void add(std::vector<std::string> labels, std::vector<std::string> lists = {}) {
    plan::Host host;
    host.address.emplace().ip = std::string("\x0a\0\0\1", 4);
    host.address->port = static_cast<uint32_t>(hosts_.size() + 1);
    host.weight = 1;
    host.labels = std::move(labels);
    host.list_labels = std::move(lists);
    hosts_.push_back(std::make_shared<Host>(std::make_shared<const plan::Host>(host), 1));
  }

  plan::Cluster cluster_;
  HostSet::Hosts hosts_;
  std::unique_ptr<HostSet> set_;
  const BalancerSettings settings_;
  Random random_{1};
  Balancer any_{settings_, 0, random_};
  std::unique_ptr<SubsetBalancer> subsets_;
};

plan::Subsets rulesOf(Fallback fallback, std::vector<plan::SubsetSelector> selectors) {
  plan::Subsets rules;
  rules.fallback = fallback;
  rules.selectors = std::move(selectors);
  return rules;
}

}  // namespace

TEST(
    "A request goes to the hosts that have all labels it asks for, by just the keys of a "
    "selector") {
  Labelled hosts(
      rulesOf(Fallback::None, {selectorOf({"version"}), selectorOf({"stage", "version"})}));
  EXPECT_EQ(hosts.index().size(), 6u);
  EXPECT_EQ(hosts.chosen({"version=\"1\""}, Found::Selected), "12");
  EXPECT_EQ(hosts.chosen({"stage=\"dev\"", "version=\"1\""}, Found::Selected), "2");
  EXPECT_EQ(hosts.chosen({"stage=\"dev\""}, Found::None), "0");
  EXPECT_EQ(hosts.chosen({"version=\"9\""}, Found::None), "0");
  EXPECT_EQ(hosts.chosen(std::vector<std::string>(), Found::None), "0");
}

TEST("A list is one value, or any of its values where that is asked for") {
  plan::Subsets rules = rulesOf(Fallback::None, {selectorOf({"version"})});
  EXPECT_EQ(Labelled(rules).chosen({"version=[\"3\",\"4\"]"}, Found::Selected), "4");
  EXPECT_EQ(Labelled(rules).chosen({"version=\"3\""}, Found::None), "0");
  rules.list_as_any = true;
  EXPECT_EQ(Labelled(rules).chosen({"version=\"3\""}, Found::Selected), "4");
  EXPECT_EQ(Labelled(rules).chosen({"version=[\"3\",\"4\"]"}, Found::None), "0");
}

TEST("Who finds no subset goes where the cluster says") {
  EXPECT_EQ(Labelled(rulesOf(Fallback::Any, {selectorOf({"version"})}))
                .chosen({"version=\"9\""}, Found::Fallback),
            "1234");
  plan::Subsets rules = rulesOf(Fallback::Default, {selectorOf({"version"})});
  rules.default_labels = {"stage=\"prod\"", "version=\"2\""};
  EXPECT_EQ(Labelled(rules).chosen({"version=\"9\""}, Found::Fallback), "3");
  rules.default_labels = {"version=\"none\""};
  EXPECT_EQ(Labelled(rules).chosen({"version=\"9\""}, Found::None), "0");
  rules.panics_to_any = true;
  EXPECT_EQ(Labelled(rules).chosen({"version=\"9\""}, Found::Panic), "1234");
}

TEST("A selector's own fallback goes before the cluster's") {
  plan::Subsets rules = rulesOf(Fallback::Any, {selectorOf({"stage"}, SelectorFallback::None),
                                                selectorOf({"version"}, SelectorFallback::Default),
                                                selectorOf({"stage", "version"}),
                                                selectorOf({"zone"}, SelectorFallback::Any)});
  rules.default_labels = {"stage=\"dev\""};
  Labelled hosts(rules);
  EXPECT_EQ(hosts.chosen({"stage=\"x\""}, Found::None), "0");
  EXPECT_EQ(hosts.chosen({"version=\"x\""}, Found::None), "2");
  EXPECT_EQ(hosts.chosen({"stage=\"x\"", "version=\"1\""}, Found::Fallback), "1234");
  EXPECT_EQ(hosts.chosen({"zone=\"x\""}, Found::None), "1234");
}

TEST("A selector may fall back to fewer keys") {
  plan::SubsetSelector both = selectorOf({"stage", "version"}, SelectorFallback::Keys);
  both.fallback_keys = {"version"};
  Labelled hosts(rulesOf(Fallback::None, {both, selectorOf({"version"})}));
  EXPECT_EQ(hosts.chosen({"stage=\"x\"", "version=\"1\""}, Found::Selected), "12");
}

TEST("What no selector asks for does not count where it is allowed to be redundant") {
  plan::Subsets rules = rulesOf(Fallback::None, {selectorOf({"version"})});
  const std::vector<std::string> wanted = {"color=\"red\"", "version=\"2\""};
  EXPECT_EQ(Labelled(rules).chosen(wanted, Found::None), "0");
  rules.allows_redundant_keys = true;
  EXPECT_EQ(Labelled(rules).chosen(wanted, Found::Selected), "3");
}

TEST("One host is enough where a selector says so, and the others are counted") {
  plan::SubsetSelector selector = selectorOf({"version"});
  selector.has_single_host = true;
  Labelled hosts(rulesOf(Fallback::None, {selector}));
  EXPECT_EQ(hosts.chosen({"version=\"1\""}, Found::Selected), "1");
  EXPECT_EQ(hosts.index().duplicates(), 1u);
}

TEST("A route's list of fallbacks is tried in order, where the cluster follows it") {
  plan::Subsets rules = rulesOf(Fallback::None, {selectorOf({"version"})});
  plan::MetadataMatch match;
  match.labels = {"version=\"2\""};
  match.fallbacks.push_back({{"version=\"7\""}});
  match.fallbacks.push_back({{"version=\"1\""}});
  const SubsetCriteria criteria(match);
  EXPECT_EQ(Labelled(rules).chosen(criteria, Found::Selected), "3");
  rules.follows_fallback_list = true;
  EXPECT_EQ(Labelled(rules).chosen(criteria, Found::Selected), "12");
}

TEST("Subsets that come and go are told apart by what they ask for") {
  Labelled few(rulesOf(Fallback::None, {selectorOf({"version"})}));
  Labelled many(rulesOf(Fallback::None, {selectorOf({"version"}), selectorOf({"stage"})}));
  EXPECT_EQ(many.index().countMissingIn(&few.index()), 2u);
  EXPECT_EQ(few.index().countMissingIn(&many.index()), 0u);
  EXPECT_EQ(few.index().countMissingIn(nullptr), 3u);
}

TEST("A subset has the part of its localities' weights that it has of their hosts") {
  test::Hosts all;
  all.addIn("a", 10).addIn("a", 10).addIn("b", 10);
  const HostSet whole = all.zones("");
  const HostSet::Hosts some = {all.list()[0], all.list()[2]};
  const HostSet part(some, nullptr, whole.rules(), &whole);
  EXPECT_EQ(part.priorities()[0].localities[0].weight, 5u);
  EXPECT_EQ(part.priorities()[0].localities[1].weight, 10u);
}

}  // namespace fairlead::upstream
