#include "filters/http/rbac_rules.h"

#include <algorithm>
#include <utility>

#include "route/tree_facts.h"

namespace fairlead::filters {

namespace {

using ConditionKind = plan::RbacCondition::Kind;

}  // namespace

Result<RbacCondition> RbacCondition::build(const plan::RbacCondition& plan) {
  RbacCondition condition;
  condition.plan_ = plan;
  condition.plan_.parts.clear();
  for (const plan::RbacCondition& part_plan : plan.parts) {
    Result<RbacCondition> part = build(part_plan);
    if (!part) return part.error();
    condition.parts_.push_back(std::move(part.value()));
  }
  if (plan.kind == ConditionKind::Not && plan.parts.size() != 1) {
    return Error{"a condition that is not to hold is one"};
  }
  if (plan.header) {
    Result<route::HeaderMatch> header = route::HeaderMatch::build(*plan.header);
    if (!header) return header.error();
    condition.header_ = std::move(header.value());
  }
  if (plan.kind == ConditionKind::Header && !plan.header) return Error{"a header without a match"};
  if (plan.text) {
    Result<match::StringMatcher> text = match::StringMatcher::build(*plan.text);
    if (!text) return text.error();
    condition.text_ = std::move(text.value());
  }
  if (plan.range) condition.range_.emplace(*plan.range);
  for (const plan::CidrRange& range : plan.ranges) condition.ranges_.emplace_back(range);
  if (plan.kind == ConditionKind::FilterState) net::wantFilterState();
  if (plan.metadata) {
    Result<match::MetadataCondition> metadata = match::MetadataCondition::build(*plan.metadata);
    if (!metadata) return metadata.error();
    condition.metadata_ = std::move(metadata.value());
  }
  return condition;
}

bool RbacCondition::holds(const RbacRequest& request) const {
  const format::FormatContext& context = request.context;
  const auto holds = [&](const RbacCondition& part) { return part.holds(request); };
  switch (plan_.kind) {
    case ConditionKind::Any:
      return true;
    case ConditionKind::And:
      return std::ranges::all_of(parts_, holds);
    case ConditionKind::Or:
      return std::ranges::any_of(parts_, holds);
    case ConditionKind::Not:
      return !parts_[0].holds(request);
    case ConditionKind::Header:
      return header_->matches(request.view);
    case ConditionKind::Path:
      return text_ && !request.view.path.empty() && text_->matches(request.view.pathOnly());
    case ConditionKind::DestinationIp:
      return isIn(context.downstream_local);
    case ConditionKind::DestinationPort: {
      const net::Address* local = context.downstream_local;
      if (!local || local->ipBytes().empty()) return false;
      return local->port() >= plan_.first_port && local->port() < plan_.end_port;
    }
    case ConditionKind::ServerName:
      return text_ && text_->matches(context.requested_server_name);
    case ConditionKind::SourceIp:
      return isIn(&request.peer);
    case ConditionKind::RemoteIp:
      return isIn(context.downstream_remote);
    case ConditionKind::DirectRemoteIp:
      return isIn(context.downstream_direct_remote);
    case ConditionKind::Authenticated:
      return isAuthenticated(context.downstream_tls);
    case ConditionKind::Metadata:
      return metadata_ && metadata_->holds(route::metadataOf(context, *metadata_));
    case ConditionKind::RouteMetadata:
      return metadata_ && metadata_->holds(route::routeMetadataOf(context, *metadata_));
    case ConditionKind::FilterState:
      return isKept(context.filter_state) || isKept(context.connection_state);
  }
  return false;
}

bool RbacCondition::isKept(const net::FilterState* state) const {
  if (!state) return false;
  const std::string* const value = state->find(plan_.key);
  if (text_) {
    std::string room;
    const net::StateObject* const object = value ? nullptr : state->findObject(plan_.key);
    if (value || (object && object->appendText(&room)))
      return text_->matches(value ? *value : room);
    return false;
  }
  net::Address address;
  if (!value || !net::parseIp(*value, &address)) return false;
  const bool is_in =
      std::ranges::any_of(ranges_, [&](const net::Cidr& range) { return range.contains(address); });
  return is_in != plan_.inverts;
}

bool RbacCondition::isIn(const net::Address* address) const {
  return address && range_ && range_->contains(*address);
}

// URIs, DNS names and the subject are all names of the peer.
bool RbacCondition::isAuthenticated(const net::TlsInfo* tls) const {
  if (!tls) return false;
  if (!text_) return true;
  for (const net::TlsValue kind : {net::TlsValue::PeerUriNames, net::TlsValue::PeerDnsNames}) {
    for (const std::string& name : tls->peerNames(kind)) {
      if (text_->matches(name)) return true;
    }
  }
  std::string subject;
  tls->append(net::TlsValue::PeerSubject, &subject);
  return text_->matches(subject);
}

Result<std::unique_ptr<const RbacRules>> RbacRules::build(const Boxed<plan::RbacRules>& rules,
                                                          const Boxed<plan::RbacTree>& tree) {
  if (rules) return ofRules(*rules);
  if (tree) return ofTree(*tree);
  return std::unique_ptr<const RbacRules>();
}

Result<std::unique_ptr<const RbacRules>> RbacRules::ofRules(const plan::RbacRules& plan) {
  auto rules = std::make_unique<RbacRules>();
  rules->action_ = plan.action;
  for (const plan::RbacPolicy& policy : plan.policies) {
    Result<RbacCondition> permission =
        RbacCondition::build(policy.permission.value_or(plan::RbacCondition()));
    if (!permission) return permission.error();
    Result<RbacCondition> principal =
        RbacCondition::build(policy.principal.value_or(plan::RbacCondition()));
    if (!principal) return principal.error();
    rules->policies_.push_back({policy.name,
                                detailsFor(policy.name),
                                std::move(permission.value()),
                                std::move(principal.value()),
                                {}});
  }
  return std::unique_ptr<const RbacRules>(std::move(rules));
}

Result<std::unique_ptr<const RbacRules>> RbacRules::ofTree(const plan::RbacTree& plan) {
  auto rules = std::make_unique<RbacRules>();
  auto tree = match::MatchTree::build(plan.tree.value_or(plan::MatchTree()));
  if (!tree) return tree.error();
  rules->tree_ = std::move(tree.value());
  for (const plan::RbacTreeAction& action : plan.actions) {
    rules->policies_.push_back({action.name, detailsFor(action.name), {}, {}, action.action});
  }
  return std::unique_ptr<const RbacRules>(std::move(rules));
}

int RbacRules::find(const RbacRequest& request) const {
  if (tree_) {
    const int found = tree_->find(route::TreeFacts(request.view));
    return found < static_cast<int>(policies_.size()) ? found : -1;
  }
  for (size_t i = 0; i < policies_.size(); ++i) {
    if (policies_[i].permission.holds(request) && policies_[i].principal.holds(request)) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

std::string RbacRules::detailsFor(const std::string& name) {
  std::string details = "rbac_access_denied_matched_policy[" + name + "]";
  std::ranges::replace_if(
      details, [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }, '_');
  return details;
}

}  // namespace fairlead::filters
