#include "tracing/tracing.h"

#include <algorithm>

namespace fairlead::tracing {

namespace {

constexpr uint64_t kAll = 1'000'000;

RuntimeNumber shareOf(const Boxed<plan::Share>& plan, RuntimeSlots* slots) {
  return plan ? RuntimeNumber(plan->millionths, plan->slot, slots)
              : RuntimeNumber(kAll, 0, nullptr);
}

std::optional<format::Format> formatOf(const Boxed<plan::Format>& plan) {
  if (!plan) return std::nullopt;
  return format::Format(*plan);
}

std::vector<Tag> tagsOf(const std::vector<plan::TraceTag>& plans) {
  return {plans.begin(), plans.end()};
}

bool readsResponseHead(const std::vector<Tag>& tags) {
  return std::any_of(tags.begin(), tags.end(),
                     [](const Tag& tag) { return tag.format.readsResponseHead(); });
}

}  // namespace

Sampling::Sampling(const plan::TraceSampling& plan, RuntimeSlots* slots)
    : client(shareOf(plan.client, slots)),
      random(shareOf(plan.random, slots)),
      overall(shareOf(plan.overall, slots)) {}

const std::string* findTagValue(const plan::TagMetadata* metadata, std::string_view space,
                                std::string_view path) {
  if (!metadata) return nullptr;
  for (const plan::MetadataSpace& one : metadata->spaces) {
    if (one.name != space) continue;
    for (const plan::MetadataValue& value : one.values) {
      if (value.path == path) return &value.text;
    }
  }
  return nullptr;
}

RouteTracing::RouteTracing(const plan::RouteTracing& plan, RuntimeSlots* slots)
    : sampling(plan.sampling.value_or(plan::TraceSampling()), slots),
      tags(tagsOf(plan.tags)),
      operation(formatOf(plan.operation)),
      upstream_operation(formatOf(plan.upstream_operation)) {}

Tracing::Tracing(const plan::Tracing& settings, bool egress, RuntimeSlots* slots, Spans& to)
    : plan(settings),
      is_egress(egress),
      sampling(settings.sampling.value_or(plan::TraceSampling()), slots),
      tags(tagsOf(settings.tags)),
      operation(formatOf(settings.operation)),
      upstream_operation(formatOf(settings.upstream_operation)),
      spans(to) {
  reads_response_head = readsResponseHead(tags);
}

}  // namespace fairlead::tracing
