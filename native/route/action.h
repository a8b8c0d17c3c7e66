// Where a route forwards to: one cluster, one that a header names, or one of several by weight.
// Immutable.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/name_ids.h"
#include "base/result.h"
#include "base/runtime_slots.h"
#include "match/match_tree.h"
#include "plan/plan.gen.h"
#include "plan/subset_criteria.h"
#include "route/filter_settings.h"
#include "route/hash_policy.h"
#include "route/header_mutations.h"
#include "route/request_view.h"
#include "route/retry_policy.h"
#include "route/rewrite.h"

namespace fairlead::route {

// A cluster that a request may go to.
struct Target {
  // None: a header names the cluster.
  NameIds::Ref cluster;
  HeaderName cluster_header;
  RuntimeNumber weight;
  HeaderMutations mutations;
  // The host before the route's own rewrite, which may follow. Empty: the request's.
  std::string host_rewrite;
  // Its own mutations first, whatever wins, then the route's chain.
  MutationChain chain;
  // In place of the route's; null: the route's.
  std::unique_ptr<const FilterSettings> filters;
  std::unique_ptr<const TryFilterSettings> try_filters;
  // Which hosts will do; empty: all.
  plan::SubsetCriteria criteria;
};

// Where a copy of a request goes.
struct MirrorPolicy {
  // None: a header names the cluster.
  NameIds::Ref cluster;
  HeaderName cluster_header;
  // Of all requests, in millionths.
  RuntimeNumber share;
  bool keeps_host = false;
  // In place of the request's, if any.
  std::string host;
  HeaderChanges changes;
  // Whether its span is told of; none: where the request's own is.
  std::optional<bool> is_sampled;

  static Result<std::vector<MirrorPolicy>> build(const std::vector<plan::MirrorPolicy>& plans,
                                                 NameIds& clusters, RuntimeSlots* slots);
};

struct ClusterAction {
  // Numbers and choices; names, weights and expressions are compiled below.
  plan::ClusterAction plan;
  // One, or as many as there are weights, or choices of a tree and one that is none.
  std::vector<Target> targets;
  bool targets_have_filters = false;
  // Of weights that stay as they are; 0: they follow runtime values and are summed for each
  // request.
  uint64_t total_weight = 0;
  // Its number picks instead of chance. Empty: none.
  HeaderName weight_header;
  // The request's hash does, where it has one.
  bool picks_by_hash = false;
  // Picks instead of all of these; null: none.
  std::unique_ptr<const match::MatchTree> tree;
  Rewrite path_rewrite;
  HostRewrite host_rewrite;
  // Null: only a request's own headers may ask for retries.
  std::unique_ptr<const RetryPolicy> retry;
  std::vector<MirrorPolicy> mirrors;
  HashPolicies hash_policies;

  static Result<ClusterAction> build(const plan::ClusterAction& plan, NameIds& clusters,
                                     RuntimeSlots* slots = nullptr,
                                     const FilterConfigs& configs = {});
  const Target& pick(const RequestView& request) const;
  // By chance, of those that are not among `tried`; emptied first where all are.
  const Target& pickOther(std::vector<const Target*>& tried, uint64_t random) const;
  // What it says of an upgrade; null: nothing.
  const plan::RouteUpgrade* findUpgrade(std::string_view name) const;
  // Set where tunnels that such requests ask for end here: hosts hear their bytes alone.
  const plan::ConnectConfig* terminates(std::string_view method) const;

 private:
  uint64_t sumOfWeights() const;
  const Target& pickByTree(const RequestView& request) const;
  std::optional<uint64_t> hashOf(const RequestView& request) const;
};

}  // namespace fairlead::route
