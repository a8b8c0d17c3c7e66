#include "filters/http/rbac_rules.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

namespace fairlead::filters {

namespace {

using ConditionKind = plan::RbacCondition::Kind;
using MetadataKind = plan::RbacCondition::Value;

constexpr double kMillionths = 1'000'000;

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
      return text_ && text_->matches(request.view.pathOnly());
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
      return hasMetadata(context) != plan_.inverts;
  }
  return false;
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

// The last that was set under the name counts.
bool RbacCondition::hasMetadata(const format::FormatContext& context) const {
  for (size_t i = context.filter_metadata.size(); i > 0; --i) {
    const format::SetMetadata& set = context.filter_metadata[i - 1];
    if (set.space != plan_.metadata_namespace) continue;
    if (const auto* value = set.metadata->find(plan_.metadata_path)) return fitsMetadata(*value);
  }
  return false;
}

bool RbacCondition::fitsMetadata(const format::FilterMetadata::Value& value) const {
  switch (plan_.value) {
    case MetadataKind::Present:
      return true;
    case MetadataKind::Text:
      return !value.is_json && text_ && text_->matches(value.text);
    case MetadataKind::Literal:
      return value.is_json && value.text == plan_.literal;
    case MetadataKind::Number: {
      if (!value.is_json) return false;
      double number = 0;
      const char* const end = value.text.data() + value.text.size();
      const auto read = std::from_chars(value.text.data(), end, number);
      if (read.ec != std::errc() || read.ptr != end) return false;
      const double millionths = number * kMillionths;
      return millionths >= static_cast<double>(plan_.first_number) &&
             millionths < static_cast<double>(plan_.end_number);
    }
  }
  return false;
}

Result<std::unique_ptr<const RbacRules>> RbacRules::build(const plan::RbacRules& plan) {
  auto rules = std::make_unique<RbacRules>();
  rules->action_ = plan.action;
  for (const plan::RbacPolicy& policy : plan.policies) {
    Result<RbacCondition> permission =
        RbacCondition::build(policy.permission.value_or(plan::RbacCondition()));
    if (!permission) return permission.error();
    Result<RbacCondition> principal =
        RbacCondition::build(policy.principal.value_or(plan::RbacCondition()));
    if (!principal) return principal.error();
    rules->policies_.push_back({policy.name, detailsFor(policy.name), std::move(permission.value()),
                                std::move(principal.value())});
  }
  return std::unique_ptr<const RbacRules>(std::move(rules));
}

int RbacRules::find(const RbacRequest& request) const {
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
