#include "filters/http/rate_limit_descriptors.h"

#include <algorithm>
#include <utility>

namespace fairlead::filters {

namespace {

using ActionKind = plan::RateLimitAction::Kind;

// The first parameter of the name; no data: there is none.
std::string_view parameterOf(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const std::string_view pair = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), pair.size() + 1));
    const size_t equals = pair.find('=');
    if (pair.substr(0, equals) != name) continue;
    return equals == std::string_view::npos ? pair.substr(pair.size()) : pair.substr(equals + 1);
  }
  return {};
}

}  // namespace

void appendEntry(std::string_view key, std::string_view value, std::string* descriptor) {
  for (const std::string_view text : {key, value}) {
    const auto size = static_cast<uint32_t>(text.size());
    descriptor->append(reinterpret_cast<const char*>(&size), sizeof(size));
    descriptor->append(text);
  }
}

Result<DescriptorAction> DescriptorAction::build(const plan::RateLimitAction& plan) {
  DescriptorAction action;
  plan::RouteMatch asked;
  asked.headers = plan.headers;
  asked.query_parameters = plan.queries;
  Result<route::Match> match = route::Match::build(asked);
  if (!match) return match.error();
  action.match_ = std::move(match.value());
  for (const plan::CidrRange& range : plan.ranges) action.ranges_.emplace_back(range);
  if (plan.kind == ActionKind::Header) action.header_ = route::HeaderName(plan.name);
  action.plan_ = plan;
  action.plan_.headers.clear();
  action.plan_.queries.clear();
  action.plan_.ranges.clear();
  return action;
}

bool DescriptorAction::append(const DescriptorSource& source, std::string* descriptor) const {
  switch (plan_.kind) {
    case ActionKind::Text:
      appendEntry(plan_.key, plan_.value, descriptor);
      return true;
    case ActionKind::Header: {
      std::string_view value;
      if (!source.request.header(header_, &value)) return plan_.skips_if_absent;
      appendEntry(plan_.key, value, descriptor);
      return true;
    }
    case ActionKind::QueryParameter: {
      const std::string_view value = parameterOf(source.request.query(), plan_.name);
      if (!value.data()) return plan_.skips_if_absent;
      appendEntry(plan_.key, value, descriptor);
      return true;
    }
    case ActionKind::DestinationCluster:
      if (source.cluster.empty()) return false;
      appendEntry(plan_.key, source.cluster, descriptor);
      return true;
    case ActionKind::RemoteAddress:
      return source.client && appendAddress(source.client, descriptor);
    case ActionKind::HeadersMatch:
    case ActionKind::QueryMatch:
      return appendIf(match_.matchesRest(source.request), descriptor);
    case ActionKind::AddressMatch:
      return appendIf(source.client && std::ranges::any_of(ranges_,
                                                           [&](const net::Cidr& range) {
                                                             return range.contains(*source.client);
                                                           }),
                      descriptor);
  }
  return false;
}

bool DescriptorAction::appendIf(bool fits, std::string* descriptor) const {
  if (fits == plan_.inverts) return false;
  appendEntry(plan_.key, plan_.value, descriptor);
  return true;
}

bool DescriptorAction::appendAddress(const net::Address* client, std::string* descriptor) const {
  const std::string_view ip = client->ipBytes();
  if (ip.empty()) return false;
  const std::optional<uint32_t> kept = ip.size() == 4 ? plan_.ipv4_bits : plan_.ipv6_bits;
  if (!kept) {
    appendEntry(plan_.key, client->ip(), descriptor);
    return true;
  }
  std::string masked(ip);
  const size_t bits = std::min<size_t>(*kept, ip.size() * 8);
  for (size_t i = 0; i < masked.size(); ++i) {
    const size_t left = bits > i * 8 ? std::min<size_t>(bits - i * 8, 8) : 0;
    masked[i] = static_cast<char>(masked[i] & (0xff00 >> left));
  }
  appendEntry(plan_.key, net::Address::fromIp(masked, 0).ip() + "/" + std::to_string(bits),
              descriptor);
  return true;
}

Result<std::unique_ptr<const RateLimits>> RateLimits::build(const plan::RateLimits& plan) {
  auto limits = std::make_unique<RateLimits>();
  limits->is_of_virtual_host_ = plan.of_virtual_host;
  for (const plan::RateLimit& limit_plan : plan.limits) {
    Limit limit{limit_plan.stage, {}};
    for (const plan::RateLimitAction& action_plan : limit_plan.actions) {
      Result<DescriptorAction> action = DescriptorAction::build(action_plan);
      if (!action) return action.error();
      limit.actions.push_back(std::move(action.value()));
    }
    limits->limits_.push_back(std::move(limit));
  }
  return std::unique_ptr<const RateLimits>(std::move(limits));
}

void RateLimits::append(uint32_t stage, const DescriptorSource& source,
                        std::vector<std::string>* out) const {
  for (const Limit& limit : limits_) {
    if (limit.stage != stage) continue;
    std::string descriptor;
    const bool is_whole = std::ranges::all_of(limit.actions, [&](const DescriptorAction& action) {
      return action.append(source, &descriptor);
    });
    if (is_whole && !descriptor.empty()) out->push_back(std::move(descriptor));
  }
}

}  // namespace fairlead::filters
