#include "route/action.h"

#include <algorithm>

#include "base/text.h"
#include "http/joined_headers.h"
#include "route/tree_facts.h"

namespace fairlead::route {

namespace {

Target buildTarget(const std::string& cluster, const std::string& cluster_header,
                   NameIds& clusters) {
  Target target;
  if (!cluster.empty()) target.cluster = clusters.hold(cluster);
  target.cluster_header = HeaderName(cluster_header);
  return target;
}

// The number in a header of which there is exactly one. Blanks around it and a plus do no harm.
bool readNumber(const HeaderName& name, const RequestView& request, uint64_t* number) {
  std::string_view text;
  if (!request.header(name, &text)) return false;
  if (!name.isPseudo()) {
    const http::HeaderEntry* first = name.find(*request.headers);
    if (name.find(*request.headers, first)) return false;
  }
  text = trimmed(text);
  if (text.starts_with('+')) text.remove_prefix(1);
  return parseDecimal(text, number);
}

}  // namespace

Result<std::vector<MirrorPolicy>> MirrorPolicy::build(const std::vector<plan::MirrorPolicy>& plans,
                                                      NameIds& clusters, RuntimeSlots* slots) {
  std::vector<MirrorPolicy> mirrors;
  for (const plan::MirrorPolicy& mirror : plans) {
    Result<HeaderChanges> changes =
        HeaderChanges::build(mirror.request_changes, http::isJoinedInRequests);
    if (!changes) return changes.error();
    mirrors.push_back(
        {.cluster = mirror.cluster.empty() ? NameIds::Ref() : clusters.hold(mirror.cluster),
         .cluster_header = HeaderName(mirror.cluster_header),
         .share = RuntimeNumber(mirror.share_millionths, mirror.share_slot, slots),
         .keeps_host = mirror.keeps_host,
         .host = mirror.host,
         .changes = std::move(changes.value()),
         .is_sampled = mirror.is_sampled});
  }
  return mirrors;
}

Result<ClusterAction> ClusterAction::build(const plan::ClusterAction& plan, NameIds& clusters,
                                           RuntimeSlots* slots, const FilterConfigs& configs) {
  ClusterAction action;
  action.plan = plan;
  action.plan.weighted.reset();
  action.plan.path_rewrite.reset();
  action.plan.host_rewrite.reset();
  action.plan.retry.reset();
  if (plan.retry) {
    Result<RetryPolicy> policy = RetryPolicy::build(*plan.retry);
    if (!policy) return policy.error();
    action.retry = std::make_unique<const RetryPolicy>(std::move(policy.value()));
  }
  if (plan.path_rewrite) {
    Result<Rewrite> rewrite = Rewrite::build(*plan.path_rewrite);
    if (!rewrite) return rewrite.error();
    action.path_rewrite = std::move(rewrite.value());
  }
  if (plan.host_rewrite) {
    Result<HostRewrite> rewrite = HostRewrite::build(*plan.host_rewrite);
    if (!rewrite) return rewrite.error();
    action.host_rewrite = std::move(rewrite.value());
  }
  Result<HashPolicies> hashes = HashPolicies::build(plan.hash_policies);
  if (!hashes) return hashes.error();
  action.hash_policies = std::move(hashes.value());
  action.plan.hash_policies.clear();
  action.plan.mirrors.clear();
  Result<std::vector<MirrorPolicy>> mirrors = MirrorPolicy::build(plan.mirrors, clusters, slots);
  if (!mirrors) return mirrors.error();
  action.mirrors = std::move(mirrors.value());
  if (plan.cluster_tree) {
    auto tree = match::MatchTree::build(*plan.cluster_tree, slots);
    if (!tree) return tree.error();
    action.tree = std::make_unique<const match::MatchTree>(std::move(tree.value()));
    for (const std::string& cluster : plan.tree_clusters) {
      action.targets.push_back(buildTarget(cluster, {}, clusters));
    }
    action.targets.emplace_back();
    for (Target& target : action.targets) {
      if (plan.metadata_match) target.criteria = plan::SubsetCriteria(*plan.metadata_match);
    }
    action.plan.cluster_tree.reset();
    action.plan.tree_clusters.clear();
    return action;
  }
  if (!plan.weighted || plan.weighted->clusters.empty()) {
    Target target = buildTarget(plan.cluster, plan.cluster_header, clusters);
    if (plan.metadata_match) target.criteria = plan::SubsetCriteria(*plan.metadata_match);
    action.targets.push_back(std::move(target));
    return action;
  }
  action.weight_header = HeaderName(plan.weighted->header_name);
  action.picks_by_hash = plan.weighted->by_hash;
  bool is_live = false;
  for (const plan::WeightedCluster& entry : plan.weighted->clusters) {
    Target target = buildTarget(entry.name, entry.cluster_header, clusters);
    target.weight = RuntimeNumber(entry.weight, entry.weight_slot, slots);
    is_live = is_live || entry.weight_slot != 0;
    target.host_rewrite = entry.host_rewrite_literal;
    if (entry.mutations) target.mutations = HeaderMutations(*entry.mutations);
    if (!entry.filters.empty()) {
      Result<FilterSettings> filters = FilterSettings::build(entry.filters, configs);
      if (!filters) return filters.error();
      action.targets_have_filters = true;
      target.filters = std::make_unique<const FilterSettings>(std::move(filters.value()));
    }
    if (!entry.try_filters.empty()) {
      auto filters = TryFilterSettings::build(entry.try_filters, configs);
      if (!filters) return filters.error();
      target.try_filters = std::move(filters.value());
    }
    const auto& match = entry.metadata_match ? entry.metadata_match : plan.metadata_match;
    if (match) target.criteria = plan::SubsetCriteria(*match);
    action.targets.push_back(std::move(target));
  }
  if (!is_live) action.total_weight = action.sumOfWeights();
  return action;
}

uint64_t ClusterAction::sumOfWeights() const {
  uint64_t sum = 0;
  for (const Target& target : targets) sum += target.weight.value();
  return sum;
}

const plan::RouteUpgrade* ClusterAction::findUpgrade(std::string_view name) const {
  for (const plan::RouteUpgrade& upgrade : plan.upgrades) {
    if (equalsIgnoreCase(name, upgrade.name)) return &upgrade;
  }
  return nullptr;
}

const plan::ConnectConfig* ClusterAction::terminates(std::string_view method) const {
  if (plan.upgrades.empty() || (method != "CONNECT" && method != "POST")) return nullptr;
  const plan::RouteUpgrade* const upgrade = findUpgrade("connect");
  if (!upgrade || !upgrade->connect) return nullptr;
  return method == "CONNECT" || upgrade->connect->allows_post ? &*upgrade->connect : nullptr;
}

namespace {

// The one that `point` falls on where each is as long as its weight; the last behind all of them.
template <typename WeightOf>
const Target& targetAt(const std::vector<Target>& targets, uint64_t point, WeightOf weight_of) {
  for (const Target& target : targets) {
    const uint64_t weight = weight_of(target);
    if (point < weight) return target;
    point -= weight;
  }
  return targets.back();
}

}  // namespace

// The last target is that of a request for which the tree says nothing.
const Target& ClusterAction::pickByTree(const RequestView& request) const {
  const int found = tree->find(TreeFacts(request));
  const auto number = static_cast<size_t>(found);
  return found == match::MatchTree::kNone || number >= targets.size() ? targets.back()
                                                                      : targets[number];
}

std::optional<uint64_t> ClusterAction::hashOf(const RequestView& request) const {
  format::FormatContext context;
  request.describe(&context);
  if (!context.downstream_direct_remote || !context.downstream_local) return std::nullopt;
  const net::Address& peer = *context.downstream_direct_remote;
  const net::Address* const client = context.downstream_remote;
  // A cookie that is still to be given is given with the host's choice.
  std::vector<std::string> cookies;
  return hash_policies.hash({.request = request,
                             .client = client ? *client : peer,
                             .peer = peer,
                             .local = *context.downstream_local},
                            &cookies);
}

const Target& ClusterAction::pick(const RequestView& request) const {
  if (targets.size() == 1) return targets[0];
  if (tree) return pickByTree(request);
  uint64_t point = request.random;
  if (!weight_header.empty()) {
    readNumber(weight_header, request, &point);
  } else if (picks_by_hash) {
    point = hashOf(request).value_or(point);
  }
  const uint64_t total = total_weight == 0 ? sumOfWeights() : total_weight;
  return targetAt(targets, point % std::max<uint64_t>(total, 1),
                  [](const Target& target) { return target.weight.value(); });
}

const Target& ClusterAction::pickOther(std::vector<const Target*>& tried, uint64_t random) const {
  const auto weight_of = [&tried](const Target& target) -> uint64_t {
    const bool was_tried = std::find(tried.begin(), tried.end(), &target) != tried.end();
    return was_tried ? 0 : target.weight.value();
  };
  uint64_t total = 0;
  for (const Target& target : targets) total += weight_of(target);
  if (total == 0) {
    tried.clear();
    total = sumOfWeights();
  }
  return targetAt(targets, random % std::max<uint64_t>(total, 1), weight_of);
}

}  // namespace fairlead::route
