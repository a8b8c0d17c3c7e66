// Which host of which subset gets a request: the one that it asks for, or what stands in for it.
// One per worker and cluster with subsets; a balancer for each subset is made when it is first
// asked.
#pragma once

#include <memory>
#include <unordered_map>

#include "upstream/balancer.h"
#include "upstream/subset_index.h"

namespace fairlead::upstream {

class SubsetBalancer {
 public:
  // `any`: of all hosts. All must outlive it.
  SubsetBalancer(const plan::Subsets& rules, const BalancerSettings& settings, Balancer& any,
                 unsigned worker, Random& random)
      : rules_(rules), settings_(settings), any_(any), worker_(worker), random_(random) {}

  // As Balancer::setHosts(), of hosts that have an index.
  void setHosts(const HostSet& hosts, const HostSet* local);
  void setLocalHosts(const HostSet* local);
  // `criteria`: null: the request asks for none.
  Choice choose(const PickContext& context, const plan::SubsetCriteria* criteria);

 private:
  Choice chooseOnce(const PickContext& context, const plan::SubsetCriteria* criteria);
  Choice chooseOf(const Subset& subset, const PickContext& context);
  Choice fallBack(const PickContext& context);
  // As the selector has it whose keys are asked for. False: none says anything.
  bool fallBackBySelector(const PickContext& context, const plan::SubsetCriteria& criteria,
                          Choice* choice);

  const plan::Subsets& rules_;
  const BalancerSettings& settings_;
  Balancer& any_;
  const unsigned worker_;
  Random& random_;
  // Null: there are no hosts yet.
  const SubsetIndex* index_ = nullptr;
  const HostSet* local_ = nullptr;
  std::unordered_map<const Subset*, std::unique_ptr<Balancer>> balancers_;
};

}  // namespace fairlead::upstream
