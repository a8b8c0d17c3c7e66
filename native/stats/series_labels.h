// The labels of a series, in the order in which they are shown; names as they are before
// Prometheus' rules for names. The control thread's.
#pragma once

#include <array>
#include <charconv>

#include "stats/prometheus_metrics.h"
#include "stats/tagged_name.h"

namespace fairlead::stats {

// With an underscore for each byte that no name has.
inline void appendMetricName(std::string* out, std::string_view name) {
  static constexpr std::array<bool, 256> kIsNameByte = [] {
    std::array<bool, 256> known{};
    for (int c = '0'; c <= '9'; ++c) known[c] = true;
    for (int c = 'a'; c <= 'z'; ++c) known[c] = known[c - 'a' + 'A'] = true;
    known['_'] = true;
    return known;
  }();
  const size_t start = out->size();
  out->append(name);
  for (size_t i = start; i < out->size(); ++i) {
    if (!kIsNameByte[static_cast<uint8_t>((*out)[i])]) (*out)[i] = '_';
  }
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
  const Scope& scope = series.block->scope();
  const AgreedName agreed = agreedNameOf(scope, series.name);
  if (series.member.form == Member::Form::Status) {
    char text[4];
    const auto end = std::to_chars(text, text + sizeof(text), series.code.statusNumber()).ptr;
    visit("envoy.response_code", std::string_view(text, static_cast<size_t>(end - text)));
  } else if (series.member.form == Member::Form::Family) {
    const char digit = static_cast<char>('0' + series.code.familyDigit());
    visit("envoy.response_code_class", std::string_view(&digit, 1));
  } else if (series.member.code_class) {
    visit("envoy.response_code_class", std::string_view(&series.member.code_class, 1));
  } else if (!agreed.label.empty() && !agreed.is_last) {
    visit(agreed.label, agreed.value);
  }
  visitAll(scope.first_labels);
  if (hasConfiguredTags(scope, series.name)) visitAll(registry.fixedLabels());
  visitAll(scope.labels);
  if (agreed.is_last) visit(agreed.label, agreed.value);
}

// Calls visit(name, value) for each label of the series, of a text its value too.
template <typename Visit>
void forEachLabel(const Registry& registry, Kind kind, const Series& series, Visit visit) {
  if (registry.tagProducer() && !hasOwnTags(*series.block)) {
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
