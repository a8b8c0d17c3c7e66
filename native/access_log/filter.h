// Which requests are logged: a tree of conditions. Immutable; any thread.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "base/runtime_slots.h"
#include "format/context.h"
#include "match/string_matcher.h"
#include "plan/plan.gen.h"

namespace fairlead::access_log {

class Filter {
 public:
  static Result<Filter> build(const plan::AccessLogFilter& plan, RuntimeSlots* slots = nullptr);
  // `random`: draws for shares.
  bool accepts(const format::FormatContext& context, uint64_t random) const;

  bool readsRequestHead() const;

 private:
  bool compares(uint64_t number) const;
  bool acceptsHeader(const format::FormatContext& context) const;

  plan::AccessLogFilter plan_;
  // What is compared with, or the share in millionths.
  RuntimeNumber number_;
  format::ResponseFlags flags_;
  std::optional<match::StringMatcher> matcher_;
  std::vector<Filter> filters_;
};

}  // namespace fairlead::access_log
