// Which requests are logged: a tree of conditions. Immutable; any thread.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/result.h"
#include "base/runtime_slots.h"
#include "format/context.h"
#include "format/piece.h"
#include "match/metadata_condition.h"
#include "match/string_matcher.h"
#include "plan/plan.gen.h"

namespace fairlead::access_log {

class Filter {
 public:
  static Result<Filter> build(const plan::AccessLogFilter& plan, RuntimeSlots* slots = nullptr);
  // `random`: draws for shares.
  bool accepts(const format::FormatContext& context, uint64_t random) const;

  bool readsRequestHead() const;
  bool readsResponseHead() const;

 private:
  bool compares(uint64_t number) const;
  bool acceptsHeader(const format::FormatContext& context) const;
  bool acceptsValue(std::string_view value) const;
  bool acceptsGrpcStatus(const format::FormatContext& context) const;
  bool acceptsMetadata(const format::FormatContext& context) const;
  // `numbers` names it, or does not where it excludes.
  bool isNamed(uint64_t number) const;

  plan::AccessLogFilter plan_;
  // What is compared with, or the share in millionths.
  RuntimeNumber number_;
  format::ResponseFlags flags_;
  std::optional<match::StringMatcher> matcher_;
  // The value that is looked at.
  std::optional<format::Piece> metadata_;
  std::optional<match::MetadataCondition> metadata_value_;
  std::vector<Filter> filters_;
};

}  // namespace fairlead::access_log
