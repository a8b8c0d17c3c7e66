#include "worker/stats_settings.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "match/string_matcher.h"

namespace fairlead::worker {

namespace {

using match::StringMatcher;

std::vector<std::string> splitTokens(const std::string& pattern) {
  std::vector<std::string> tokens;
  for (size_t begin = 0;;) {
    const size_t dot = pattern.find('.', begin);
    tokens.push_back(pattern.substr(begin, dot == std::string::npos ? dot : dot - begin));
    if (dot == std::string::npos) return tokens;
    begin = dot + 1;
  }
}

Result<stats::TagRule> buildTagRule(const plan::TagRule& plan) {
  using PlanKind = plan::TagRule::Kind;
  stats::TagRule rule;
  rule.name = plan.name;
  rule.substring = plan.substring;
  rule.except = plan.except;
  rule.first_token = plan.first_token;
  switch (plan.kind) {
    case PlanKind::Fixed:
      rule.kind = stats::TagRule::Kind::Fixed;
      rule.value = plan.value;
      break;
    case PlanKind::Tokens:
      rule.kind = stats::TagRule::Kind::Tokens;
      rule.tokens = splitTokens(plan.value);
      break;
    case PlanKind::Regex: {
      rule.kind = stats::TagRule::Kind::Regex;
      Result<Regex> regex = Regex::load(plan.regex ? plan.regex->program : std::string());
      if (!regex) return regex.error();
      rule.regex = std::move(regex.value());
      break;
    }
  }
  return rule;
}

Result<void> applyTagRules(const plan::TagRules& plan, stats::Registry* registry) {
  std::vector<stats::TagRule> rules;
  for (const plan::TagRule& each : plan.rules) {
    Result<stats::TagRule> rule = buildTagRule(each);
    if (!rule) return rule.error();
    rules.push_back(std::move(rule.value()));
  }
  registry->setTagProducer(std::make_unique<stats::TagProducer>(std::move(rules)));
  return {};
}

// Names that are on the list, or those that are not.
Result<stats::NameTest> rejectionOf(const std::vector<plan::StringMatch>& plans,
                                    bool rejects_listed) {
  auto listed = std::make_shared<std::vector<StringMatcher>>();
  for (const plan::StringMatch& plan : plans) {
    Result<StringMatcher> matcher = StringMatcher::build(plan);
    if (!matcher) return matcher.error();
    listed->push_back(std::move(matcher.value()));
  }
  return stats::NameTest([listed, rejects_listed](std::string_view name) {
    const bool is_listed = std::any_of(listed->begin(), listed->end(),
                                       [&](const auto& matcher) { return matcher.matches(name); });
    return is_listed == rejects_listed;
  });
}

bool rejectsEverything(std::string_view) { return true; }

Result<void> applySelection(const plan::StatsSettings& settings, stats::Registry* registry) {
  using Selection = plan::StatsSettings::Selection;
  if (settings.selection == Selection::All) return {};
  if (settings.selection == Selection::None) {
    registry->setRejection(rejectsEverything);
    return {};
  }
  auto rejects = rejectionOf(settings.listed, settings.selection == Selection::NotListed);
  if (!rejects) return rejects.error();
  registry->setRejection(std::move(rejects.value()));
  return {};
}

Result<void> applyBucketRules(const std::vector<plan::BucketRule>& plans,
                              stats::Registry* registry) {
  std::vector<stats::BucketRule> rules;
  for (const plan::BucketRule& plan : plans) {
    Result<StringMatcher> matcher = StringMatcher::build(plan.match.value_or(plan::StringMatch()));
    if (!matcher) return matcher.error();
    stats::BucketRule rule;
    rule.matches = [matcher = matcher.value()](std::string_view name) {
      return matcher.matches(name);
    };
    rule.bounds.resize(plan.bounds.size() / sizeof(double));
    std::memcpy(rule.bounds.data(), plan.bounds.data(), rule.bounds.size() * sizeof(double));
    rules.push_back(std::move(rule));
  }
  registry->setBucketRules(std::move(rules));
  return {};
}

}  // namespace

Result<void> applyStatsSettings(const plan::StatsSettings& settings, stats::Registry* registry) {
  std::vector<stats::Label> fixed;
  for (const plan::FixedTag& tag : settings.fixed_tags) fixed.emplace_back(tag.name, tag.value);
  registry->setFixedLabels(std::move(fixed));
  if (settings.defers_traffic) registry->deferTraffic();
  if (settings.tag_rules) {
    const Result<void> tags = applyTagRules(*settings.tag_rules, registry);
    if (!tags) return tags;
  }
  const Result<void> selection = applySelection(settings, registry);
  if (!selection) return selection;
  return applyBucketRules(settings.bucket_rules, registry);
}

Result<void> chooseStats(const plan::StatsChoice* choice, const std::string& prefix,
                         stats::Registry* registry) {
  using Kind = plan::StatsChoice::Kind;
  if (!choice || choice->kind == Kind::All) {
    registry->setRejection(prefix, {});
    return {};
  }
  if (choice->kind == Kind::None) {
    registry->setRejection(prefix, rejectsEverything);
    return {};
  }
  auto rejects = rejectionOf(choice->listed, choice->kind == Kind::NotListed);
  if (!rejects) return rejects.error();
  registry->setRejection(prefix, std::move(rejects.value()));
  return {};
}

}  // namespace fairlead::worker
