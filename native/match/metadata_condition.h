// What a value of a request's metadata is to be like. Immutable; any thread.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "match/string_matcher.h"
#include "plan/plan.gen.h"

namespace fairlead::match {

// A value as metadata has it.
struct MetadataText {
  std::string_view text;
  // It is JSON that is no string's.
  bool is_json = false;
};

class MetadataCondition {
 public:
  static Result<MetadataCondition> build(const plan::MetadataCondition& plan);

  const std::string& space() const { return plan_.metadata_namespace; }
  // Its keys, with a NUL between each two.
  const std::string& path() const { return plan_.metadata_path; }
  // nullopt: there is no value.
  bool holds(const std::optional<MetadataText>& value) const {
    return (value && fits(*value)) != plan_.inverts;
  }

 private:
  bool fits(const MetadataText& value) const;
  // `list`: JSON.
  bool hasElement(std::string_view list) const;

  // Without its texts and parts, which are built below.
  plan::MetadataCondition plan_;
  std::optional<StringMatcher> text_;
  std::vector<MetadataCondition> parts_;
};

}  // namespace fairlead::match
