// Regular expressions with RE2's meaning, in linear time, and lookaheads in quadratic time: runs
// the program over bytes that src/plan/match/regex/regex.ts compiled (its format is described
// there); no pattern is parsed here. A Regex is immutable and may be used by all threads at once.
// What matching needs of memory is kept per thread and bounded: the steady state of fullMatch and
// search allocates nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace fairlead {

namespace regex {
class Program;
}

class Regex {
 public:
  // Checks every jump and every size: the program may come from anywhere.
  static Result<Regex> load(std::string_view program);

  // Whether the whole text fits.
  bool fullMatch(std::string_view text) const;
  // Whether any part of it does.
  bool search(std::string_view text) const;
  // False: no text that begins so has a part that does.
  bool mayBeIn(std::string_view beginning) const;
  // Where the leftmost match and its groups are, as many as `groups` has room for; false: there is
  // none. A group that took no part is null.
  bool find(std::string_view text, std::span<std::string_view> groups) const;
  // How many groups the pattern has, the whole match not counted.
  uint32_t groupCount() const;
  // Appends the text with every match replaced, leftmost first, as RE2::GlobalReplace does: in
  // `rewrite`, \0 is the match, \1 to \9 its groups, \\ a backslash. A rewrite that names a group
  // which does not exist replaces nothing.
  void replaceAll(std::string_view text, std::string_view rewrite, std::string* out) const;

 private:
  explicit Regex(std::shared_ptr<const regex::Program> program) : program_(std::move(program)) {}

  std::shared_ptr<const regex::Program> program_;
};

}  // namespace fairlead
