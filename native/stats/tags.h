// Tags taken out of full names by rules, for configurations whose tags are not those that every
// scope knows of itself. What a rule takes leaves the name; the rules all see the whole name.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/regex.h"
#include "stats/block.h"

namespace fairlead::stats {

struct TagRule {
  enum class Kind : uint8_t {
    // Every name has the tag.
    Fixed,
    // `tokens` fit the name's: "$" is the value, "*" any token, "**" any number of them,
    // and one at least where it is the last.
    Tokens,
    // Group 1 leaves the name, group 2, or 1 where there is no other, is the value.
    Regex,
  };
  std::string name;
  Kind kind = Kind::Fixed;
  // Of Fixed.
  std::string value;
  std::vector<std::string> tokens;
  std::optional<Regex> regex;
  // Only names that contain it.
  std::string substring;
  // A value that is no tag; empty: all are.
  std::string except;
  // Only names that begin with this token; empty: all names.
  std::string first_token;
};

class TagProducer {
 public:
  explicit TagProducer(std::vector<TagRule> rules);

  // Appends the labels that `name` has, and the name without what they took.
  void produce(std::string_view name, std::vector<Label>* labels, std::string* rest) const;

 private:
  // Those for all names, then those of a first token, which stay together.
  std::vector<TagRule> rules_;
};

}  // namespace fairlead::stats
