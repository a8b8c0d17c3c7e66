#include "match/metadata_condition.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "base/arena.h"
#include "base/json_tree.h"

namespace fairlead::match {

namespace {

constexpr double kMillionths = 1'000'000;

}  // namespace

Result<MetadataCondition> MetadataCondition::build(const plan::MetadataCondition& plan) {
  MetadataCondition condition;
  condition.plan_ = plan;
  condition.plan_.parts.clear();
  condition.plan_.text.reset();
  if (plan.text) {
    Result<StringMatcher> text = StringMatcher::build(*plan.text);
    if (!text) return text.error();
    condition.text_ = std::move(text.value());
  }
  for (const plan::MetadataCondition& part_plan : plan.parts) {
    Result<MetadataCondition> part = build(part_plan);
    if (!part) return part.error();
    condition.parts_.push_back(std::move(part.value()));
  }
  return condition;
}

bool MetadataCondition::fits(const MetadataText& value) const {
  using Value = plan::MetadataCondition::Value;
  switch (plan_.value) {
    case Value::Present:
      return true;
    case Value::Text:
      return !value.is_json && text_ && text_->matches(value.text);
    case Value::Literal:
      return value.is_json && value.text == plan_.literal;
    case Value::Number: {
      if (!value.is_json) return false;
      double number = 0;
      const char* const end = value.text.data() + value.text.size();
      const auto read = std::from_chars(value.text.data(), end, number);
      if (read.ec != std::errc() || read.ptr != end) return false;
      const double millionths = number * kMillionths;
      return millionths >= static_cast<double>(plan_.first_number) &&
             millionths < static_cast<double>(plan_.end_number);
    }
    case Value::AnyOf:
      return std::ranges::any_of(parts_,
                                 [&](const MetadataCondition& part) { return part.holds(value); });
    case Value::HasElement:
      return value.is_json && !parts_.empty() && hasElement(value.text);
  }
  return false;
}

bool MetadataCondition::hasElement(std::string_view list) const {
  if (!list.starts_with('[')) return false;
  Arena arena(512);
  const JsonNode* const root = parseJson(list, arena, JsonRepeats::LastWins);
  if (!root) return false;
  std::string room;
  for (const JsonNode* at = root->first; at; at = at->next) {
    room.clear();
    if (!at->isString()) appendJson(&room, *at);
    const MetadataText element{at->isString() ? at->text : room, !at->isString()};
    if (parts_[0].holds(element)) return true;
  }
  return false;
}

}  // namespace fairlead::match
