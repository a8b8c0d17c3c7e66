// The labels of a series, in the order in which they are shown; names as they are before
// Prometheus' rules for names. The control thread's.
#pragma once

#include <charconv>

#include "stats/prometheus_metrics.h"
#include "stats/tagged_name.h"

namespace fairlead::stats {

inline constexpr bool isMetricNameByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

inline void appendMetricName(std::string* out, std::string_view name) {
  for (const char c : name) out->push_back(isMetricNameByte(c) ? c : '_');
}

// A label's value as the text format spells it between its quotes.
inline void appendEscaped(std::string* out, std::string_view value) {
  for (const char c : value) {
    if (c == '\\' || c == '"') out->push_back('\\');
    if (c == '\n') {
      out->append("\\n");
    } else {
      out->push_back(c);
    }
  }
}

// Calls visit(name, value) for each label that scopes and codes of answers give.
template <typename Visit>
void forEachScopeLabel(const Registry& registry, const Series& series, Visit visit) {
  const auto visitAll = [&](const std::vector<Label>& labels) {
    for (const auto& [name, value] : labels) visit(name, value);
  };
  if (series.member.form == Member::Form::Status) {
    char text[4];
    const auto end = std::to_chars(text, text + sizeof(text), series.code.statusNumber()).ptr;
    visit("envoy.response_code", std::string_view(text, static_cast<size_t>(end - text)));
  } else if (series.member.form == Member::Form::Family) {
    const char digit = static_cast<char>('0' + series.code.familyDigit());
    visit("envoy.response_code_class", std::string_view(&digit, 1));
  } else if (series.member.code_class) {
    visit("envoy.response_code_class", std::string_view(&series.member.code_class, 1));
  }
  const Scope& scope = series.block->scope();
  visitAll(scope.first_labels);
  if (hasConfiguredTags(scope, series.name)) visitAll(registry.fixedLabels());
  visitAll(scope.labels);
}

// Calls visit(name, value) for each label of the series, of a text its value too.
template <typename Visit>
void forEachLabel(const Registry& registry, Kind kind, const Series& series, Visit visit) {
  if (registry.tagProducer()) {
    std::vector<Label> labels;
    std::string metric;
    appendTagged(registry, *series.block, series.name, series.code, &labels, &metric);
    for (const auto& [name, value] : labels) visit(name, value);
  } else {
    forEachScopeLabel(registry, series, visit);
  }
  if (kind == Kind::Text) visit("text_value", series.block->text(series.member.index));
}

}  // namespace fairlead::stats
