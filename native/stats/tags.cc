#include "stats/tags.h"

#include <algorithm>
#include <array>
#include <utility>

namespace fairlead::stats {

namespace {

// A part of a name: from `begin` to before `end`.
struct Span {
  size_t begin;
  size_t end;
};

struct Taken {
  std::string_view value;
  // What leaves the name.
  Span span;
};

std::vector<std::string_view> split(std::string_view name) {
  std::vector<std::string_view> tokens;
  for (size_t begin = 0;;) {
    const size_t dot = name.find('.', begin);
    tokens.push_back(name.substr(begin, dot - begin));
    if (dot == std::string_view::npos) return tokens;
    begin = dot + 1;
  }
}

// The token that "$" stands for, from pattern[p] and tokens[t] on; null: the pattern does not fit.
const std::string_view* fit(const std::vector<std::string>& pattern, size_t p,
                            const std::vector<std::string_view>& tokens, size_t t,
                            const std::string_view* value) {
  for (; p < pattern.size(); ++p, ++t) {
    if (pattern[p] == "**") {
      // At the end it stands for one token at least.
      const size_t least = p + 1 == pattern.size() ? t + 1 : t;
      for (size_t rest = least; rest <= tokens.size(); ++rest) {
        if (const auto* found = fit(pattern, p + 1, tokens, rest, value)) return found;
      }
      return nullptr;
    }
    if (t == tokens.size()) return nullptr;
    if (pattern[p] == "$") {
      value = &tokens[t];
    } else if (pattern[p] != "*" && pattern[p] != tokens[t]) {
      return nullptr;
    }
  }
  return t == tokens.size() ? value : nullptr;
}

std::optional<Taken> takeToken(const TagRule& rule, std::string_view name,
                               const std::vector<std::string_view>& tokens) {
  const std::string_view* value = fit(rule.tokens, 0, tokens, 0, nullptr);
  if (!value) return std::nullopt;
  Span span = {static_cast<size_t>(value->data() - name.data()), 0};
  span.end = span.begin + value->size();
  // With the dot that follows it, or, at the name's end, the one before.
  if (span.end < name.size()) {
    ++span.end;
  } else if (span.begin > 0) {
    --span.begin;
  }
  return Taken{*value, span};
}

std::optional<Taken> takeMatch(const TagRule& rule, std::string_view name) {
  if (rule.regex->groupCount() == 0) return std::nullopt;
  std::array<std::string_view, 3> groups;
  if (!rule.regex->find(name, groups)) return std::nullopt;
  const std::string_view removed = groups[1];
  const std::string_view value = rule.regex->groupCount() > 1 ? groups[2] : removed;
  if (!removed.data()) return Taken{value, {0, 0}};
  const auto begin = static_cast<size_t>(removed.data() - name.data());
  return Taken{value, {begin, begin + removed.size()}};
}

bool isWanted(const TagRule& rule, std::string_view name, std::string_view first_token) {
  if (!rule.first_token.empty() && rule.first_token != first_token) return false;
  return name.find(rule.substring) != std::string_view::npos;
}

void appendWithout(std::string_view name, std::vector<Span>* spans, std::string* out) {
  std::sort(spans->begin(), spans->end(),
            [](const Span& a, const Span& b) { return a.begin < b.begin; });
  size_t at = 0;
  for (const Span& span : *spans) {
    if (span.begin > at) out->append(name.substr(at, span.begin - at));
    at = std::max(at, span.end);
  }
  out->append(name.substr(at));
  // What stood behind the last dot has left.
  while (out->ends_with('.')) out->pop_back();
}

}  // namespace

TagProducer::TagProducer(std::vector<TagRule> rules) : rules_(std::move(rules)) {
  std::stable_partition(rules_.begin(), rules_.end(),
                        [](const TagRule& rule) { return rule.first_token.empty(); });
}

void TagProducer::produce(std::string_view name, std::vector<Label>* labels,
                          std::string* rest) const {
  const std::vector<std::string_view> tokens = split(name);
  // A name without a dot has no first token.
  const std::string_view first_token = tokens.size() > 1 ? tokens[0] : std::string_view();
  const size_t first = labels->size();
  std::vector<Span> spans;
  for (const TagRule& rule : rules_) {
    if (!isWanted(rule, name, first_token)) continue;
    const bool is_taken =
        std::any_of(labels->begin() + static_cast<std::ptrdiff_t>(first), labels->end(),
                    [&](const Label& label) { return label.first == rule.name; });
    if (is_taken) continue;
    if (rule.kind == TagRule::Kind::Fixed) {
      labels->emplace_back(rule.name, rule.value);
      continue;
    }
    const auto taken =
        rule.kind == TagRule::Kind::Tokens ? takeToken(rule, name, tokens) : takeMatch(rule, name);
    if (!taken || (!rule.except.empty() && taken->value == rule.except)) continue;
    labels->emplace_back(rule.name, taken->value);
    spans.push_back(taken->span);
  }
  appendWithout(name, &spans, rest);
}

}  // namespace fairlead::stats
