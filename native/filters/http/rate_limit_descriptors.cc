#include "filters/http/rate_limit_descriptors.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "http/query.h"
#include "route/tree_facts.h"

namespace fairlead::filters {

namespace {

using ActionKind = plan::RateLimitAction::Kind;

// The last that was set under the name counts. Null: there is none.
const format::FilterMetadata::Value* findMetadata(const format::FormatContext& context,
                                                  std::string_view space, std::string_view path) {
  for (size_t i = context.filter_metadata.size(); i > 0; --i) {
    const format::SetMetadata& set = context.filter_metadata[i - 1];
    if (set.space != space) continue;
    if (const auto* const value = set.metadata->find(path)) return value;
  }
  return nullptr;
}

// As RateLimitUnit has them.
constexpr std::string_view kUnits[] = {"UNKNOWN", "SECOND", "MINUTE", "HOUR",
                                       "DAY",     "MONTH",  "YEAR"};

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
  if (plan.format) action.format_.emplace(*plan.format);
  action.route_metadata_ = format::FilterMetadata(plan.route_metadata);
  action.plan_ = plan;
  action.plan_.route_metadata.clear();
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
      thread_local std::string room;
      const auto value = http::queryParameter(source.request.query(), plan_.name, &room);
      if (!value) return plan_.skips_if_absent;
      appendEntry(plan_.key, *value, descriptor);
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
      return appendIf(match_.matchesRest(source.request), source, descriptor);
    case ActionKind::AddressMatch:
      return appendIf(source.client && std::ranges::any_of(ranges_,
                                                           [&](const net::Cidr& range) {
                                                             return range.contains(*source.client);
                                                           }),
                      source, descriptor);
    case ActionKind::Metadata:
      return appendMetadata(source.context, descriptor);
    case ActionKind::Format:
      return appendIf(!plan_.inverts, source, descriptor);
    case ActionKind::Input: {
      std::string room;
      const auto value =
          plan_.input ? route::TreeFacts(source.request).text(*plan_.input, &room) : std::nullopt;
      if (!value || value->empty()) return false;
      appendEntry(plan_.key, *value, descriptor);
      return true;
    }
  }
  return false;
}

bool DescriptorAction::appendIf(bool fits, const DescriptorSource& source,
                                std::string* descriptor) const {
  if (fits == plan_.inverts) return false;
  if (!format_) {
    appendEntry(plan_.key, plan_.value, descriptor);
    return true;
  }
  Arena arena(256);
  const std::string_view made = format_->formatTo(source.context, arena);
  if (made.empty() && plan_.otherwise.empty()) return false;
  appendEntry(plan_.key, made.empty() ? std::string_view(plan_.otherwise) : made, descriptor);
  return true;
}

// Text alone counts.
bool DescriptorAction::appendMetadata(const format::FormatContext& context,
                                      std::string* descriptor) const {
  const format::FilterMetadata::Value* value =
      plan_.is_of_route ? route_metadata_.find(plan_.metadata_path)
                        : findMetadata(context, plan_.metadata_namespace, plan_.metadata_path);
  if (value && !value->is_json && !value->text.empty()) {
    appendEntry(plan_.key, value->text, descriptor);
    return true;
  }
  if (!plan_.otherwise.empty()) {
    appendEntry(plan_.key, plan_.otherwise, descriptor);
    return true;
  }
  return plan_.skips_if_absent;
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

Result<std::unique_ptr<const RateLimits>> RateLimits::build(const plan::RateLimits& plan,
                                                            RuntimeSlots& slots) {
  constexpr uint64_t kAll = 1'000'000;
  auto limits = std::make_unique<RateLimits>();
  limits->is_of_virtual_host_ = plan.of_virtual_host;
  for (const plan::RateLimit& limit_plan : plan.limits) {
    Limit limit;
    limit.plan = limit_plan;
    limit.plan.actions.clear();
    for (const plan::RateLimitAction& action_plan : limit_plan.actions) {
      Result<DescriptorAction> action = DescriptorAction::build(action_plan);
      if (!action) return action.error();
      limit.actions.push_back(std::move(action.value()));
    }
    const auto& enabled = limit_plan.enabled;
    limit.enabled = enabled ? RuntimeNumber(enabled->value, enabled->slot, &slots)
                            : RuntimeNumber(kAll, 0, nullptr);
    if (limit_plan.hits && limit_plan.hits->format) limit.hits.emplace(*limit_plan.hits->format);
    limits->has_late_ |= limit_plan.at_end;
    limits->limits_.push_back(std::move(limit));
  }
  return std::unique_ptr<const RateLimits>(std::move(limits));
}

// What a runtime key may turn off is not for local limits.
void RateLimits::append(uint32_t stage, const DescriptorSource& source,
                        std::vector<Descriptor>* out) const {
  for (const Limit& limit : limits_) {
    if (limit.plan.stage != stage || limit.plan.enabled) continue;
    Descriptor descriptor;
    const bool is_whole = std::ranges::all_of(limit.actions, [&](const DescriptorAction& action) {
      return action.append(source, &descriptor.entries);
    });
    if (is_whole && !descriptor.entries.empty()) out->push_back(std::move(descriptor));
  }
}

void RateLimits::describe(std::optional<uint32_t> stage, bool at_end,
                          const DescriptorSource& source, Random& random,
                          std::vector<Descriptor>* out) const {
  for (const Limit& limit : limits_) {
    if (stage && limit.plan.stage != *stage) continue;
    if (limit.plan.at_end != at_end || !random.draws(limit.enabled.value())) continue;
    Descriptor descriptor;
    const bool is_whole = std::ranges::all_of(limit.actions, [&](const DescriptorAction& action) {
      return action.append(source, &descriptor.entries);
    });
    if (!is_whole || descriptor.entries.empty()) continue;
    if (limit.plan.override) readOverride(*limit.plan.override, source.context, &descriptor);
    if (!readHits(limit, source.context, &descriptor)) continue;
    descriptor.tells_limit = limit.plan.tells_limit;
    out->push_back(std::move(descriptor));
  }
}

bool RateLimits::readOverride(const plan::LimitOverride& plan, const format::FormatContext& context,
                              Descriptor* out) {
  if (plan.metadata_namespace.empty()) {
    out->limit = {plan.requests_per_unit, plan.unit};
    return true;
  }
  const std::string path = plan.metadata_path.empty() ? std::string() : plan.metadata_path + '\0';
  const auto* const requests =
      findMetadata(context, plan.metadata_namespace, path + "requests_per_unit");
  const auto* const unit = findMetadata(context, plan.metadata_namespace, path + "unit");
  uint64_t number = 0;
  if (!requests || !unit || unit->is_json || !parseDecimal(requests->text, &number)) return false;
  const auto* const found = std::ranges::find(kUnits, unit->text);
  if (found == std::end(kUnits) || number > UINT32_MAX) return false;
  out->limit = {static_cast<uint32_t>(number), static_cast<uint32_t>(found - std::begin(kUnits))};
  return true;
}

// False: nothing can be made of them, and there is no descriptor.
bool RateLimits::readHits(const Limit& limit, const format::FormatContext& context,
                          Descriptor* out) {
  if (!limit.plan.hits) return true;
  out->is_negative = limit.plan.hits->is_negative;
  if (!limit.hits) {
    out->hits = limit.plan.hits->number.value_or(0);
    return true;
  }
  Arena arena(256);
  uint64_t number = 0;
  if (!parseDecimal(limit.hits->formatTo(context, arena), &number)) return false;
  out->hits = number;
  return true;
}

}  // namespace fairlead::filters
