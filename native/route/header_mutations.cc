#include "route/header_mutations.h"

#include <algorithm>
#include <utility>

#include "http/joined_headers.h"

namespace fairlead::route {

using Action = plan::HeaderAddition::Action;
using http::HeaderEntry;
using http::HeaderMap;

namespace {

// Values of one list that are made before any goes in; longer lists use the heap.
constexpr size_t kInlineValues = 16;

void removeAll(const HeaderName& name, HeaderMap& headers) {
  for (HeaderEntry& entry : headers) {
    if (name.names(entry)) entry.remove();
  }
}

}  // namespace

MutationList::MutationList(const std::vector<std::string>& remove,
                           const std::vector<plan::HeaderAddition>& add,
                           bool (*is_joined)(http::HeaderId id)) {
  for (const std::string& name : remove) removals_.emplace_back(name);
  for (const plan::HeaderAddition& addition : add) {
    const http::HeaderId id = http::internHeader(addition.name);
    additions_.push_back({HeaderName(addition.name), id, addition.action, addition.keep_empty,
                          is_joined(id), format::Format(addition.value.value_or(plan::Format()))});
  }
}

bool MutationList::Addition::overwrites() const {
  return action == Action::OverwriteOrAdd || action == Action::OverwriteIfExists;
}

void MutationList::apply(HeaderMap& headers, const format::FormatContext& context,
                         Arena& arena) const {
  for (const HeaderName& name : removals_) removeAll(name, headers);
  if (additions_.empty()) return;
  std::string_view inline_values[kInlineValues];
  std::vector<std::string_view> more_values;
  std::string_view* values = inline_values;
  if (additions_.size() > kInlineValues) {
    more_values.resize(additions_.size());
    values = more_values.data();
  }
  for (size_t i = 0; i < additions_.size(); ++i) {
    values[i] = valueOf(additions_[i], headers, context, arena);
  }
  for (const bool overwriting : {true, false}) {
    for (size_t i = 0; i < additions_.size(); ++i) {
      const Addition& addition = additions_[i];
      if (!values[i].data() || addition.overwrites() != overwriting) continue;
      if (overwriting) {
        overwrite(addition, values[i], headers);
      } else {
        add(addition, values[i], headers, arena);
      }
    }
  }
}

std::string_view MutationList::valueOf(const Addition& addition, const HeaderMap& headers,
                                       const format::FormatContext& context, Arena& arena) {
  if (addition.action == Action::AddIfAbsent || addition.action == Action::OverwriteIfExists) {
    const bool exists = addition.name.find(headers) != nullptr;
    if (exists != (addition.action == Action::OverwriteIfExists)) return {};
  }
  const std::string_view value = addition.value.formatTo(context, arena);
  return value.empty() && !addition.keep_empty ? std::string_view() : value;
}

// What was there gives way to a line at the end.
void MutationList::overwrite(const Addition& addition, std::string_view value, HeaderMap& headers) {
  removeAll(addition.name, headers);
  headers.add(addition.id, addition.name.text(), value);
}

void MutationList::add(const Addition& addition, std::string_view value, HeaderMap& headers,
                       Arena& arena) {
  if (addition.joins) {
    if (const HeaderEntry* found = addition.name.find(headers)) {
      HeaderEntry& existing = headers[static_cast<uint32_t>(found - headers.begin())];
      if (value.empty()) return;
      existing.setValue(existing.value_size == 0 ? value
                                                 : arena.join(existing.value(), ",", value));
      return;
    }
  }
  headers.add(addition.id, addition.name.text(), value);
}

Result<HeaderChanges> HeaderChanges::build(const std::vector<plan::HeaderChange>& plan,
                                           bool (*is_joined)(http::HeaderId id)) {
  HeaderChanges changes;
  for (const plan::HeaderChange& change : plan) {
    if (change.remove_matching) {
      Result<match::StringMatcher> removed = match::StringMatcher::build(*change.remove_matching);
      if (!removed) return removed.error();
      changes.changes_.push_back({{}, std::move(removed.value())});
    } else if (change.add) {
      changes.changes_.push_back({MutationList({}, {*change.add}, is_joined), std::nullopt});
    } else {
      changes.changes_.push_back({MutationList({change.remove}, {}, is_joined), std::nullopt});
    }
  }
  return changes;
}

void HeaderChanges::apply(HeaderMap& headers, const format::FormatContext& context,
                          Arena& arena) const {
  for (const Change& change : changes_) {
    change.list.apply(headers, context, arena);
    if (!change.removed) continue;
    for (HeaderEntry& entry : headers) {
      if (entry.name_size > 0 && change.removed->matches(entry.name())) entry.remove();
    }
  }
}

HeaderMutations::HeaderMutations(const plan::HeaderMutations& plan)
    : request(plan.request_remove, plan.request_add, http::isJoinedInRequests),
      response(plan.response_remove, plan.response_add, http::isJoinedInResponses) {}

void MutationChain::append(const HeaderMutations& mutations) {
  if (!mutations.request.empty()) request_.push_back(&mutations.request);
  if (!mutations.response.empty()) response_.push_back(&mutations.response);
}

}  // namespace fairlead::route
