#include "route/header_mutations.h"

namespace fairlead::route {

using Action = plan::HeaderAddition::Action;

HeaderMutations::HeaderMutations(const plan::HeaderMutations& plan)
    : request_add_(compile(plan.request_add)),
      response_add_(compile(plan.response_add)),
      request_remove_(plan.request_remove),
      response_remove_(plan.response_remove) {}

std::vector<HeaderMutations::Addition> HeaderMutations::compile(
    const std::vector<plan::HeaderAddition>& plan) {
  std::vector<Addition> result;
  for (const plan::HeaderAddition& addition : plan) {
    result.push_back({addition.name, http::internHeader(addition.name),
                      format::Format(addition.value.value_or(plan::Format())), addition.action,
                      addition.keep_empty});
  }
  return result;
}

void HeaderMutations::apply(const std::vector<std::string>& remove,
                            const std::vector<Addition>& add, http::HeaderMap& headers,
                            const format::FormatContext& context, Arena& arena) {
  for (const std::string& name : remove) headers.remove(name);
  for (const Addition& addition : add) {
    http::HeaderEntry* existing = headers.find(std::string_view(addition.name));
    if (addition.action == Action::AddIfAbsent && existing) continue;
    if (addition.action == Action::OverwriteIfExists && !existing) continue;
    std::string_view value;
    if (const std::string* literal = addition.value.literal()) {
      value = *literal;
    } else {
      std::string text;
      addition.value.append(context, false, &text);
      value = arena.copy(text);
    }
    if (value.empty() && !addition.keep_empty) continue;
    const bool overwrites = addition.action == Action::OverwriteOrAdd ||
                            addition.action == Action::OverwriteIfExists;
    if (overwrites && existing) {
      existing->setValue(value);
      headers.removeOthers(existing);
    } else {
      headers.add(addition.id, addition.name, value);
    }
  }
}

}  // namespace fairlead::route
