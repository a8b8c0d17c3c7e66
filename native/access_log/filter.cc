#include "access_log/filter.h"

#include <algorithm>
#include <charconv>

#include "base/random.h"
#include "format/grpc_status.h"

namespace fairlead::access_log {

using Kind = plan::AccessLogFilter::Kind;
using Comparison = plan::AccessLogFilter::Comparison;

namespace {

constexpr int64_t kUnknownGrpc = 2;

}  // namespace

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
  if (plan.metadata_value) {
    Result<match::MetadataCondition> value = match::MetadataCondition::build(*plan.metadata_value);
    if (!value) return value.error();
    filter.metadata_value_ = std::move(value.value());
    filter.plan_.metadata_value.reset();
  }
  if (plan.kind == Kind::Metadata) {
    plan::FormatPiece piece;
    piece.op = plan::FormatPiece::Operator::DynamicMetadata;
    piece.argument = plan.metadata_namespace;
    piece.alternative = plan.metadata_path;
    filter.metadata_.emplace(piece);
  }
  return filter;
}

bool Filter::readsRequestHead() const {
  if (plan_.kind == Kind::Header || plan_.kind == Kind::GrpcStatus) return true;
  return std::any_of(filters_.begin(), filters_.end(),
                     [](const Filter& filter) { return filter.readsRequestHead(); });
}

bool Filter::readsResponseHead() const {
  if (plan_.kind == Kind::GrpcStatus) return true;
  return std::any_of(filters_.begin(), filters_.end(),
                     [](const Filter& filter) { return filter.readsResponseHead(); });
}

bool Filter::isNamed(uint64_t number) const {
  return (std::find(plan_.numbers.begin(), plan_.numbers.end(), number) != plan_.numbers.end()) !=
         plan_.excludes;
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
    case Kind::Runtime: {
      thread_local Random own;
      return (plan_.is_independent ? own.next() : random) % 1'000'000 < number_.value();
    }
    case Kind::GrpcStatus:
      return acceptsGrpcStatus(context);
    case Kind::LogType:
      return isNamed(static_cast<uint64_t>(context.log_type));
    case Kind::Metadata:
      return acceptsMetadata(context);
    case Kind::Traceable:
      return context.is_traced;
  }
  return true;
}

// What the answer says, or what its HTTP status means; of none at all it is unknown.
bool Filter::acceptsGrpcStatus(const format::FormatContext& context) const {
  return isNamed(static_cast<uint64_t>(context.grpcStatus().value_or(kUnknownGrpc)));
}

bool Filter::acceptsMetadata(const format::FormatContext& context) const {
  std::string text;
  const bool is_json = metadata_->isJson(context);
  if (!metadata_value_) return plan_.matches_missing;
  if (!metadata_->append(context, &text)) {
    // Formats say nothing of null, which is a value all the same.
    if (!is_json || plan_.metadata_path.empty()) return plan_.matches_missing;
    text = "null";
  }
  return metadata_value_->holds(match::MetadataText{text, is_json});
}

bool Filter::acceptsValue(std::string_view value) const {
  const plan::HeaderMatch& header = *plan_.header;
  switch (header.kind) {
    case plan::HeaderMatch::Kind::Present:
      return true;
    case plan::HeaderMatch::Kind::String:
      return matcher_ && matcher_->matches(value);
    case plan::HeaderMatch::Kind::Range: {
      int64_t number = 0;
      const char* const end = value.data() + value.size();
      const auto read = std::from_chars(value.data(), end, number);
      return read.ec == std::errc() && read.ptr == end && number >= header.range_start &&
             number < header.range_end;
    }
  }
  return false;
}

// As the real server: of several headers with one name one that fits is enough, and a header that
// is not there fits nothing, not even the inverted condition, unless presence is asked for.
bool Filter::acceptsHeader(const format::FormatContext& context) const {
  if (!plan_.header) return true;
  const plan::HeaderMatch& header = *plan_.header;
  const bool is_presence = header.kind == plan::HeaderMatch::Kind::Present;
  bool is_present = false;
  bool fits = false;
  const auto look = [&](std::string_view value) {
    is_present = true;
    fits = fits || acceptsValue(value);
  };
  if (header.name.starts_with(':')) {
    const std::string_view value = context.requestHeader(header.name);
    if (!value.empty()) look(value);
  } else if (context.request_headers) {
    for (const http::HeaderEntry& entry : *context.request_headers) {
      if (entry.name() == header.name) look(entry.value());
    }
  }
  if (!is_present && header.treat_missing_as_empty && !is_presence) look({});
  if (!is_present && !is_presence) return false;
  const bool asks_for_absence = is_presence && !header.present;
  return fits != (header.invert != asks_for_absence);
}

}  // namespace fairlead::access_log
