#include "access_log/filter.h"

#include <algorithm>

namespace fairlead::access_log {

using Kind = plan::AccessLogFilter::Kind;
using Comparison = plan::AccessLogFilter::Comparison;

Result<Filter> Filter::build(const plan::AccessLogFilter& plan, RuntimeSlots* slots) {
  Filter filter;
  filter.plan_ = plan;
  filter.plan_.filters.clear();
  const bool is_share = plan.kind == Kind::Runtime;
  filter.number_ = RuntimeNumber(is_share ? plan.share_millionths : plan.value, plan.slot, slots);
  for (const plan::AccessLogFilter& inner : plan.filters) {
    Result<Filter> built = build(inner, slots);
    if (!built) return built.error();
    filter.filters_.push_back(std::move(built.value()));
  }
  for (const std::string& name : plan.flags) {
    for (uint8_t i = 0; i < static_cast<uint8_t>(format::ResponseFlag::kCount); ++i) {
      if (format::kResponseFlagNames[i].short_name == name) {
        filter.flags_.set(static_cast<format::ResponseFlag>(i));
      }
    }
  }
  if (plan.header && plan.header->string_match) {
    Result<match::StringMatcher> matcher = match::StringMatcher::build(*plan.header->string_match);
    if (!matcher) return matcher.error();
    filter.matcher_ = std::move(matcher.value());
  }
  return filter;
}

bool Filter::readsRequestHead() const {
  if (plan_.kind == Kind::Header) return true;
  return std::any_of(filters_.begin(), filters_.end(),
                     [](const Filter& filter) { return filter.readsRequestHead(); });
}

bool Filter::compares(uint64_t number) const {
  const uint64_t wanted = number_.value();
  switch (plan_.comparison) {
    case Comparison::Eq:
      return number == wanted;
    case Comparison::Ge:
      return number >= wanted;
    case Comparison::Le:
      return number <= wanted;
    case Comparison::Ne:
      return number != wanted;
  }
  return false;
}

bool Filter::accepts(const format::FormatContext& context, uint64_t random) const {
  switch (plan_.kind) {
    case Kind::And:
      for (const Filter& filter : filters_) {
        if (!filter.accepts(context, random)) return false;
      }
      return true;
    case Kind::Or:
      for (const Filter& filter : filters_) {
        if (filter.accepts(context, random)) return true;
      }
      return false;
    case Kind::Status:
      return compares(context.status);
    case Kind::Duration:
      return context.duration_us != format::kUnknown && compares(context.duration_us / 1000);
    case Kind::Header:
      return acceptsHeader(context);
    case Kind::Flags:
      return plan_.flags.empty() ? context.flags.any() : context.flags.anyOf(flags_);
    case Kind::NotHealthCheck:
      return !context.is_health_check;
    case Kind::Runtime:
      return random % 1'000'000 < number_.value();
  }
  return true;
}

// As the real server: of several headers with one name one that fits is enough, and a header that
// is not there fits nothing, not even the inverted condition, unless presence is asked for.
bool Filter::acceptsHeader(const format::FormatContext& context) const {
  if (!plan_.header) return true;
  const plan::HeaderCondition& condition = *plan_.header;
  bool is_present = false;
  bool fits = false;
  const auto look = [&](std::string_view value) {
    is_present = true;
    fits = fits || condition.present_only || (matcher_ && matcher_->matches(value));
  };
  if (condition.name.starts_with(':')) {
    const std::string_view value = context.requestHeader(condition.name);
    if (!value.empty()) look(value);
  } else if (context.request_headers) {
    for (const http::HeaderEntry& entry : *context.request_headers) {
      if (entry.name() == condition.name) look(entry.value());
    }
  }
  if (!is_present && !condition.present_only) return false;
  return fits != condition.invert;
}

}  // namespace fairlead::access_log
