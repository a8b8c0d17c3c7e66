#include "upstream/subset_balancer.h"

namespace fairlead::upstream {

void SubsetBalancer::setHosts(const HostSet& hosts, const HostSet* local) {
  balancers_.clear();
  index_ = hosts.subsets();
  local_ = local;
}

void SubsetBalancer::setLocalHosts(const HostSet* local) {
  local_ = local;
  for (const auto& [subset, balancer] : balancers_) balancer->setLocalHosts(local);
}

Choice SubsetBalancer::choose(const PickContext& context, const plan::SubsetCriteria* criteria) {
  if (!rules_.follows_fallback_list || !criteria || criteria->fallbacks().empty()) {
    return chooseOnce(context, criteria);
  }
  Choice choice;
  for (const plan::SubsetCriteria& other : criteria->fallbacks()) {
    choice = chooseOnce(context, &other);
    if (choice.host) break;
  }
  return choice;
}

Choice SubsetBalancer::chooseOnce(const PickContext& context,
                                  const plan::SubsetCriteria* criteria) {
  if (!index_) return {};
  if (!criteria || criteria->empty()) return fallBack(context);
  plan::SubsetCriteria fewer;
  if (rules_.allows_redundant_keys) {
    for (const plan::SubsetSelector& selector : rules_.selectors) {
      fewer = criteria->filtered(selector.keys);
      if (fewer.labels().size() != selector.keys.size()) continue;
      criteria = &fewer;
      break;
    }
  }
  if (const Subset* const subset = index_->find(*criteria)) {
    Choice choice = chooseOf(*subset, context);
    choice.subset = Choice::Subset::Selected;
    return choice;
  }
  Choice choice;
  return fallBackBySelector(context, *criteria, &choice) ? choice : fallBack(context);
}

Choice SubsetBalancer::chooseOf(const Subset& subset, const PickContext& context) {
  if (subset.single) return {.host = subset.single};
  std::unique_ptr<Balancer>& balancer = balancers_[&subset];
  if (!balancer) {
    balancer = std::make_unique<Balancer>(settings_, worker_, random_);
    balancer->setHosts(*subset.hosts, local_);
  }
  return balancer->choose(context);
}

bool SubsetBalancer::fallBackBySelector(const PickContext& context,
                                        const plan::SubsetCriteria& criteria, Choice* choice) {
  const plan::SubsetSelector* const selector = index_->selectorOf(criteria);
  if (!selector) return false;
  using Fallback = plan::SubsetSelector::Fallback;
  switch (selector->fallback) {
    case Fallback::OfCluster:
      return false;
    case Fallback::None:
      break;
    case Fallback::Any:
      *choice = any_.choose(context);
      break;
    case Fallback::Default:
      *choice = chooseOf(index_->defaults(), context);
      break;
    case Fallback::Keys: {
      const plan::SubsetCriteria fewer = criteria.filtered(selector->fallback_keys);
      *choice = chooseOnce(context, &fewer);
      break;
    }
  }
  return true;
}

Choice SubsetBalancer::fallBack(const PickContext& context) {
  using Fallback = plan::Subsets::Fallback;
  if (rules_.fallback == Fallback::None) return {};
  Choice choice = rules_.fallback == Fallback::Any ? any_.choose(context)
                                                   : chooseOf(index_->defaults(), context);
  if (choice.host) {
    choice.subset = Choice::Subset::Fallback;
  } else if (rules_.panics_to_any) {
    const bool panicked = choice.panicked;
    choice = any_.choose(context);
    choice.panicked |= panicked;
    if (choice.host) choice.subset = Choice::Subset::Panic;
  }
  return choice;
}

}  // namespace fairlead::upstream
